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
from icct.policy.file import read_policy, write_policy
from icct.policy.sklearn import from_sklearn
from icct.zoo import load_policy

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
    "from_sklearn",
    "load_policy",
    "parameter_count",
    "read_policy",
    "write_policy",
]
