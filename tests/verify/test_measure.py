"""Ranges, jumps, slopes, trends, robustness: against samples and by hand."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icct.errors import ConfigError
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.region import leaf_regions
from icct.verify import measure, robustness
from icct.zoo import zoo_policy
from tests.random_policies import observations_around, random_policy
from tests.shipped import SOME


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_no_sample_leaves_what_is_measured(seed: int) -> None:
    policy, rng = random_policy(seed), np.random.default_rng(seed)
    measures = measure(policy)
    table = observations_around(policy, rng, rows=300)
    acted, leaves = policy.act_batch(table), policy.leaves_of(table)
    assert set(leaves) <= set(measures.reachable)
    assert set(measures.dead) == {
        leaf
        for leaf, box in leaf_regions(policy).items()
        if any(interval.is_empty for interval in box)
    }
    names = [action.name for action in policy.actions]
    for leaf in measures.leaves:
        column = acted[leaves == leaf.leaf, names.index(leaf.action)]
        slack = 1e-14 if policy.squash == "tanh" else 0.0
        assert np.all(column >= leaf.low - slack)
        assert np.all(column <= leaf.high + slack)
    # along one feature, inside one leaf, nothing is steeper than the Lipschitz constant
    for leaf in measures.leaves:
        rows = table[leaves == leaf.leaf][:2]
        if len(rows) == 2:
            apart = np.abs(policy.act_batch(rows)[:, names.index(leaf.action)])
            moved = abs(np.diff(policy.act_batch(rows)[:, names.index(leaf.action)])[0])
            assert moved <= leaf.lipschitz * np.abs(rows[0] - rows[1]).max() + 1e-9 * (
                1 + max(apart)
            )
    json.dumps(measures.as_json(), allow_nan=False)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_jumps_and_trends_hold_for_steps_along_one_feature(seed: int) -> None:
    policy, rng = random_policy(seed, leaves=6), np.random.default_rng(seed)
    measures = measure(policy)
    names = [action.name for action in policy.actions]
    rises = {(jump.split, jump.action): (jump.rise, jump.fall) for jump in measures.jumps}
    trends = {action: dict(pairs) for action, pairs in measures.trends}
    table = observations_around(policy, rng, rows=150)
    for feature in policy.used_features:
        lower, upper = table.copy(), table.copy()
        upper[:, feature] = np.maximum(table[:, feature], rng.uniform(-3, 3, len(table)))
        moved = policy.act_batch(upper) - policy.act_batch(lower)
        for position, name in enumerate(names):
            trend = trends[name][policy.features[feature].name]
            if trend in ("rises", "constant"):
                assert moved[:, position].min() >= -1e-9
            if trend in ("falls", "constant"):
                assert moved[:, position].max() <= 1e-9
    for index in policy.splits:
        split = policy.nodes[index]
        assert isinstance(split, Split)
        if not -3 <= split.threshold < 3:
            continue
        lower, upper = table.copy(), table.copy()
        lower[:, split.feature] = split.threshold
        upper[:, split.feature] = np.nextafter(split.threshold, np.inf)
        for one, other in zip(lower, upper, strict=True):
            if index in policy.path(one) and index in policy.path(other):
                step = policy.act(other) - policy.act(one)
                for position, name in enumerate(names):
                    rise, fall = rises[index, name]
                    assert -fall - 1e-9 <= step[position] <= rise + 1e-9


def test_by_hand() -> None:
    policy = Policy(
        "hand",
        (Feature("gap", "m", 0, 10), Feature("flag", "", 0, 1)),
        (Action("push", "N", -1, 1),),
        (
            Split(0, 4.0, 1, 2),
            Leaf((Controller(((0, 0.25),), -0.5),)),
            Split(0, 12.0, 3, 4),
            Leaf((Controller(((0, -1.0),), 4.5),)),
            Leaf((Controller(bias=9.0),)),
        ),
        "clip",
    )
    measures = measure(policy)
    assert measures.reachable == (1, 3)
    assert measures.dead == (4,)
    assert measures.ranges == {"push": (-1.0, 0.5)}
    first, second = measures.leaves
    assert (first.low, first.high, first.lipschitz, first.saturation) == (-0.5, 0.5, 0.25, "never")
    assert (second.lipschitz, second.saturation) == (1.0, "partly")
    (jump,) = measures.jumps
    assert jump.rise == pytest.approx(0.0, abs=1e-9)
    assert jump.fall == pytest.approx(0.0, abs=1e-9)
    assert measures.trends == (("push", (("gap", "mixed"),)),)
    lowered = replace(
        policy, nodes=(policy.nodes[0], Leaf((Controller(bias=1.0),)), *policy.nodes[2:])
    )
    assert measure(lowered).jumps[0].fall == pytest.approx(0.5)
    assert measure(lowered).trends == (("push", (("gap", "falls"),)),)
    assert "push falls with gap" in measure(lowered).as_text()


@pytest.mark.parametrize("name", SOME)
def test_shipped_policies_are_measured(name: str) -> None:
    measures = measure(zoo_policy(name))
    for action in zoo_policy(name).actions:
        low, high = measures.ranges[action.name]
        assert action.low <= low <= high <= action.high
    assert measures.as_text().startswith(f"{name.replace('/', '-')}: ")


def test_without_bounds_ranges_are_infinite() -> None:
    policy = random_policy(3, bounded=False)
    json.dumps(measure(replace(policy, squash="none")).as_json(), allow_nan=False)
    free = Policy("f", (Feature("x"),), (Action("a"),), (Leaf((Controller(((0, 1.0),)),)),), "none")
    assert measure(free).ranges == {"a": (-math.inf, math.inf)}


@given(seed=st.integers(0, 10**6), delta=st.floats(0, 2))
@settings(max_examples=40)
def test_robustness_is_kept_by_samples(seed: int, delta: float) -> None:
    policy, rng = random_policy(seed), np.random.default_rng(seed)
    observation = observations_around(policy, rng, rows=1)[0]
    around = robustness(policy, observation, delta)
    low = np.array([feature.low for feature in policy.features])
    high = np.array([feature.high for feature in policy.features])
    radius = around.radius * rng.uniform(0, 1, size=(200, 1))
    near = np.clip(observation + radius * rng.choice([-1, 1], (200, len(low))), low, high)
    moved = np.abs(policy.act_batch(near) - policy.act(observation)).max()
    assert moved <= delta
    if around.flip_distance is not None and around.flip_distance > 1e-6:
        close = around.flip_distance * (1 - 1e-9) * rng.uniform(-1, 1, (200, len(low)))
        assert set(policy.leaves_of(np.clip(observation + close, low, high))) == {around.leaf}
    json.dumps(around.as_json(), allow_nan=False)


def test_robustness_by_hand() -> None:
    policy = zoo_policy("ring-cruiser")
    observation = [0.5] * 44
    around = robustness(policy, observation, delta=0.0)
    assert around.flip_split == 2
    assert around.flip_distance == pytest.approx(0.37)
    assert around.radius == pytest.approx(0.38, abs=1e-9)  # at 0.12 full braking ends
    with pytest.raises(ConfigError, match="delta is -1"):
        robustness(policy, observation, delta=-1)
