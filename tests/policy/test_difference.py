"""The exact difference of two policies, and where it is seen."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icct.errors import PolicyError
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.difference import ROUNDING, difference
from icct.policy.gap import Rule, largest_gap
from icct.policy.region import Interval
from tests.random_policies import observations_around, random_policy


@given(seed=st.integers(0, 10**6))
def test_no_sample_shows_more_and_the_observation_shows_as_much(seed: int) -> None:
    one = random_policy(seed, features=3, actions=2)
    other = replace(random_policy(seed + 1, features=3, actions=2), actions=one.actions)
    found = difference(one, other)
    rng = np.random.default_rng(seed)
    for policy in (one, other):
        table = observations_around(policy, rng, rows=200)
        apart = np.abs(one.act_batch(table) - other.act_batch(table)).max(axis=0)
        for bound, most in zip(found.actions, apart, strict=True):
            assert most <= bound.largest
            assert bound.shown == pytest.approx(bound.largest, rel=1e-6, abs=1e-9)
    assert found.alike is not None
    assert 0 <= found.alike <= 1


@pytest.mark.parametrize("squash", ["tanh", "clip", "none"])
@pytest.mark.parametrize("seed", range(15))
def test_a_fine_grid_finds_no_larger_gap(seed: int, squash: str) -> None:
    rng = np.random.default_rng(seed)
    action = Action("a", "", -2.0, 3.0)
    box = (Interval(-1.0, 2.0), Interval(-2.0, 1.0))
    first, second = (
        Rule(
            Controller(tuple(enumerate(rng.normal(size=2) * 2)), float(rng.normal())),
            action,
            squash,
        )
        for _ in range(2)
    )
    x, y = np.meshgrid(np.linspace(-1, 2, 601), np.linspace(-2, 1, 601))
    values = [
        r.controller.bias + r.controller.weights[0][1] * x + r.controller.weights[1][1] * y
        for r in (first, second)
    ]
    if squash == "tanh":
        values = [action.centre + action.half_range * np.tanh(value) for value in values]
    if squash == "clip":
        values = [np.clip(value, action.low, action.high) for value in values]
    gap, seen = largest_gap(first, second, box), float((values[0] - values[1]).max())
    assert seen <= gap.largest
    assert gap.largest <= seen + 0.05  # the grid is that fine
    point = list(gap.point)
    assert first.at(point) - second.at(point) == pytest.approx(gap.largest, rel=1e-8, abs=1e-9)


def tree(*nodes: Split | Leaf, squash: str = "tanh", high: float = 4.0) -> Policy:
    features = (Feature("gap", "m", 0, high), Feature("flag", "", 0, 1))
    return Policy("tree", features, (Action("push", "N", -5, 5),), nodes, squash)  # type: ignore[arg-type]


ONE, TWO = Leaf((Controller(bias=0.5),)), Leaf((Controller(bias=-0.5),))


def test_the_share_of_the_box_that_is_alike() -> None:
    before = tree(Split(0, 1.0, 1, 2), ONE, TWO)
    assert difference(before, before).alike == 1.0
    assert difference(before, before).largest == 0.0
    moved = difference(before, tree(Split(0, 2.0, 1, 2), ONE, TWO))
    assert moved.alike == 0.75
    assert moved.largest == pytest.approx(10 * math.tanh(0.5))
    (bound,) = moved.actions
    assert bound.observation is not None
    assert 1.0 < bound.observation[0] <= 2.0
    assert difference(before, tree(Split(1, 0.5, 1, 2), ONE, TWO)).alike == pytest.approx(0.5)


def test_infinite_bounds() -> None:
    rising, falling = Leaf((Controller(((0, 1.0),)),)), Leaf((Controller(((0, -1.0),)),))
    found = difference(tree(rising, high=math.inf), tree(falling, high=math.inf))
    assert found.largest == pytest.approx(10)
    assert found.actions[0].shown == pytest.approx(10)
    assert found.alike is None
    plain = [tree(leaf, squash="none", high=math.inf) for leaf in (rising, falling)]
    assert math.isinf(difference(*plain).largest)
    assert difference(*plain).as_json()["actions"][0]["largest"] is None
    alike = replace(plain[0], nodes=(Leaf((Controller(((0, 1.0),), bias=0.25),)),))
    assert math.isinf(
        difference(plain[0], alike).largest
    )  # 0.25 but for rounding, which has no end
    assert difference(plain[0], alike).actions[0].shown == 0.25


def test_saturated_rules_do_not_differ() -> None:
    high, higher = (tree(Leaf((Controller(bias=b),)), squash="clip") for b in (6.0, 7.0))
    assert difference(high, higher).largest == 0.0


def test_a_policy_of_another_shape_is_refused() -> None:
    with pytest.raises(PolicyError, match="cannot be compared"):
        difference(random_policy(0, features=2), random_policy(0, features=3))


def test_in_words() -> None:
    before = tree(Split(0, 1.0, 1, 2), ONE, TWO)
    after = tree(Split(0, 2.0, 1, 2), ONE, TWO)
    text = difference(before, after).as_text(before, after)
    assert text.splitlines()[0] == "push changes by at most 4.62117 N"
    assert text.splitlines()[1].startswith("  shown: 4.62117 N at gap=")
    assert text.splitlines()[2] == "the same rules act in 75 % of the box"
    assert difference(before, before).as_text(before, before).startswith("push never changes")
    assert difference(before, before).largest < ROUNDING
