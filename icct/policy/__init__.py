"""The value: a controller tree that describes itself. Needs numpy only."""

from icct.policy.parameters import parameter_count
from icct.policy.parts import Action, Controller, Feature, Leaf, Provenance, Split
from icct.policy.policy import Policy

__all__ = [
    "Action",
    "Controller",
    "Feature",
    "Leaf",
    "Policy",
    "Provenance",
    "Split",
    "parameter_count",
]
