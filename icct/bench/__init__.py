"""Measurements: how fast we train, and how well, as records from which tables are made."""

import icct.learn  # noqa: F401  # refuses a missing torch in words, before a file here imports it
