"""Questions to a policy, answered with a proof or a counterexample; and what can be measured."""

from icct.verify.check import Answer, Proved, Refuted, Unknown, Vacuous, check
from icct.verify.measure import Measures, measure
from icct.verify.property import Property, read_properties
from icct.verify.robustness import Robustness, robustness

__all__ = [
    "Answer",
    "Measures",
    "Property",
    "Proved",
    "Refuted",
    "Robustness",
    "Unknown",
    "Vacuous",
    "check",
    "measure",
    "read_properties",
    "robustness",
]
