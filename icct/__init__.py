"""Readable controllers: small decision trees with a sparse linear rule in each leaf."""

from icct.errors import IcctError
from icct.policy import (
    Action,
    Controller,
    Feature,
    Leaf,
    Policy,
    Provenance,
    Split,
    parameter_count,
)

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Controller",
    "Feature",
    "IcctError",
    "Leaf",
    "Policy",
    "Provenance",
    "Split",
    "__version__",
    "parameter_count",
]
