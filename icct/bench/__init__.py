"""Measurements: how fast we train, and how well, as records from which tables are made."""

from icct.learn import require_torch

require_torch()  # in words, before a file here imports it
