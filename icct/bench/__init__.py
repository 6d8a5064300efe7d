"""Measurements: how fast we train, and how well, as records from which tables are made."""
