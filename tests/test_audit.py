"""What an audit counts, on tables of observations made for it."""

import numpy as np

from icct.audit import _outside, _saturated, _ties
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split

POLICY = Policy(
    "p",
    (Feature("x", "", 0, 1), Feature("y", "", -1, 1)),
    (Action("a", "", -1, 1),),
    (
        Split(0, 0.5, 1, 2),
        Leaf((Controller(((1, 2.0),)),)),
        Split(1, 0.0, 3, 4),
        Leaf((Controller(),)),
        Leaf((Controller(),)),
    ),
    "clip",
)


def test_counts() -> None:
    table = np.array([[0.5, 0.6], [0.2, 0.0], [0.7, 0.0], [0.9, -1.5], [0.1, -0.5]])
    assert _ties(POLICY, table) == ((0, 1), (2, 1))  # y = 0 in row 1 never comes to split 2
    assert _outside(POLICY, table) == (("y", 1),)
    assert _saturated(POLICY, table) == (("a", 2 / 5),)


def test_a_float32_on_its_bound_is_inside() -> None:
    policy = Policy("q", (Feature("x", "", 0, 0.1),), (Action("a"),), (Leaf((Controller(),)),))
    assert _outside(policy, np.array([[np.float64(np.float32(0.1))]])) == ()
