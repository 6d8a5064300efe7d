"""No observation moves an action beyond the bound that diff, edit and simplify report."""

import math

import pytest

from icct.policy import Action, Controller, Feature, Leaf, Policy
from icct.policy.difference import difference
from icct.policy.edit import set_bias, set_weight
from icct.policy.parts import Squash
from icct.policy.simplify import simplify
from tests.policy.hostile import check_bounds


def policy(rule: Controller, x: tuple[float, float], squash: Squash = "none") -> Policy:
    """Return one leaf over x and y, which have the same bounds."""
    features = (Feature("x", "", *x), Feature("y", "", *x))
    return Policy("hard", features, (Action("a", "", -2, 2),), (Leaf((rule,)),), squash)


def apart(one: Policy, other: Policy, x: float, y: float = 0.0) -> float:
    """Return how far two policies act apart at an observation."""
    return abs(float(one.act([x, y])[0]) - float(other.act([x, y])[0]))


def test_no_bound_is_exceeded() -> None:
    kinds, wrong = check_bounds(range(20_000, 20_400), rows=50)
    assert wrong == []
    for kind in ("diff", "edit", "simplify"):
        assert kinds[f"{kind}, finite"] > 0.5 * kinds[kind] > 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_bound_of_10000_changes_is_exceeded() -> None:
    _, wrong = check_bounds(range(10_000), rows=100)
    assert wrong == []


def test_rounding_has_no_bound_where_a_feature_has_none() -> None:
    free = policy(Controller(((0, 1.0),), 1.0), x=(-math.inf, math.inf))
    edited, report = set_bias(free, 0, "a", 1.02)
    assert apart(free, edited, 2.0**53) == 2.0
    assert difference(free, edited).largest == math.inf
    assert "without limit" in str(report)


def test_a_rule_that_overflows_inside_the_bounds_changes() -> None:
    steep = policy(Controller(((0, 2.0),)), x=(-1e308, 1e308))
    edited, report = set_weight(steep, 0, "a", "x", 2.0000001)
    assert apart(steep, edited, 8e307) > 1e300
    assert report.bounds[0].largest == math.inf
    assert "never changes" not in difference(steep, edited).as_text(steep, edited)


def test_products_of_weights_that_underflow() -> None:
    slow = policy(Controller(((0, 1e-200),)), x=(0.0, 4e200), squash="clip")
    edited, report = set_weight(slow, 0, "a", "x", 2e-200)
    assert apart(slow, edited, 1e200) == 1.0
    assert report.bounds[0].largest >= 1.0


def test_simplify_skips_what_overflows() -> None:
    wide = policy(Controller(((0, 1e308), (1, 1.0)), 1e308), x=(5.0, 9.0), squash="clip")
    simpler, report = simplify(wide, within=0.5)
    assert report.bounds[0].largest <= 0.5
    assert simpler.act([7.0, 7.0]).tolist() == [2.0]
