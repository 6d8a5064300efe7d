import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from icct.policy import Leaf
from icct.policy.region import Interval, bounds, is_empty, leaf_regions
from icct.policy.rounding import range_of
from tests.random_policies import observations_around, random_policy


@given(seed=st.integers(0, 10**6))
def test_an_observation_lies_in_the_region_of_its_leaf_and_in_no_other(seed: int) -> None:
    policy = random_policy(seed)
    regions = leaf_regions(policy)
    assert tuple(sorted(regions)) == policy.leaves
    for row in observations_around(policy, np.random.default_rng(seed), rows=20):
        inside = [
            leaf
            for leaf, box in regions.items()
            if all(value in interval for value, interval in zip(row, box, strict=True))
        ]
        assert inside == [policy.leaf_of(row)]


@given(seed=st.integers(0, 10**6))
def test_no_controller_value_leaves_its_range(seed: int) -> None:
    policy = random_policy(seed)
    ranges = {
        index: [range_of(rule, box) for rule in policy.nodes[index].controllers]
        for index, box in leaf_regions(policy).items()
        if not is_empty(box)
    }
    for row in observations_around(policy, np.random.default_rng(seed), rows=20):
        index = policy.leaf_of(row)
        leaf = policy.nodes[index]
        assert isinstance(leaf, Leaf)
        for rule, (low, high) in zip(leaf.controllers, ranges[index], strict=True):
            assert low <= rule.value(row.tolist()) <= high


def test_intervals() -> None:
    whole = Interval(0.0, 1.0)
    assert whole.below(0.5) == Interval(0.0, 0.5)
    assert whole.above(0.5) == Interval(0.5, 1.0, low_open=True)
    assert whole.above(-1.0) == whole
    assert whole.above(1.0).is_empty
    assert not whole.above(math.nextafter(1.0, 0.0)).is_empty
    assert whole.below(-0.5).is_empty
    assert not Interval(0.0, 0.0).is_empty
    assert Interval(0.0, 1.0, low_open=True).intersect(whole) == Interval(0.0, 1.0, low_open=True)
    assert 0.0 in whole
    assert 0.0 not in whole.above(0.0)
    assert bounds(random_policy(0, features=2)) == (Interval(-3, 3), Interval(-3, 3))
