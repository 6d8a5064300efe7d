import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icct import Action, Controller, Feature, IcctError, Leaf, Policy, Split
from icct.errors import ObservationError, PolicyError
from tests.random_policies import observations_around, random_policy

FLAG = (Feature("gap", "m", 0, 10), Feature("contact", "", 0, 1))
PUSH = (Action("push", "N", -2, 4),)
CONSTANT = Leaf((Controller(bias=0.5),))


def two_leaves(threshold: float = 0.0, squash: str = "tanh") -> Policy:
    return Policy(
        "two-leaves",
        FLAG,
        PUSH,
        (Split(1, threshold, 1, 2), CONSTANT, Leaf((Controller(((0, 2.0),), -1.0),))),
        squash,
    )


@given(seed=st.integers(0, 10**6))
def test_a_batch_acts_as_its_rows_to_the_bit(seed: int) -> None:
    policy = random_policy(seed)
    table = observations_around(policy, np.random.default_rng(seed), rows=50)
    expected = np.array([policy.act(row) for row in table])
    assert np.array_equal(policy.act_batch(table), expected)
    assert policy.leaves_of(table).tolist() == [policy.leaf_of(row) for row in table]
    for row in table[:5]:
        assert policy.path(row)[-1] == policy.leaf_of(row)


def test_large_batches_are_cut_into_blocks_without_a_trace() -> None:
    policy = random_policy(3, features=4, leaves=9)
    table = observations_around(policy, np.random.default_rng(0), rows=20_011)
    whole = policy.act_batch(table)
    pieces = [policy.act_batch(piece) for piece in np.array_split(table, 7)]
    assert np.array_equal(whole, np.concatenate(pieces))


@pytest.mark.parametrize(("contact", "leaf"), [(0.0, 1), (-0.0, 1), (5e-324, 2), (1.0, 2)])
def test_a_tie_goes_below(contact: float, leaf: int) -> None:
    assert two_leaves(0.0).leaf_of([3.0, contact]) == leaf


@pytest.mark.parametrize(
    ("squash", "expected"), [("tanh", 1 + 3 * math.tanh(5.0)), ("clip", 4.0), ("none", 5.0)]
)
def test_squash(squash: str, expected: float) -> None:
    assert two_leaves(squash=squash).act([3.0, 1.0])[0] == pytest.approx(expected)


@given(
    bounds=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted),
    value=st.floats(-50, 50),
)
def test_no_tanh_action_leaves_its_limits(bounds: list[float], value: float) -> None:
    low, high = bounds
    policy = Policy("p", FLAG, (Action("a", "", low, high),), (Leaf((Controller(bias=value),)),))
    assert low <= policy.act([0.0, 0.0])[0] <= high


def test_the_smallest_limits_hold_too() -> None:
    policy = Policy("p", FLAG, (Action("a", "", 5e-324, 5e-324),), (Leaf((Controller(),)),))
    assert policy.act([0.0, 0.0])[0] == 5e-324


def test_policies_are_values() -> None:
    assert two_leaves() == two_leaves()
    assert hash(two_leaves()) == hash(two_leaves())
    assert two_leaves(0.0) != two_leaves(0.1)
    with pytest.raises(FrozenInstanceError):
        two_leaves().squash = "clip"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("observation", "says"),
    [
        ([1.0], "shape (1,), expected (2,): one number for each of gap, contact"),
        ([[1.0, 2.0]], "shape (1, 2)"),
        ([1.0, math.nan], "contact is nan in observation 0"),
        ([math.inf, 0.0], "gap is inf"),
        (["near", 0.0], "not a list of numbers"),
        (None, "shape ()"),
    ],
)
def test_bad_observations_are_refused(observation: object, says: str) -> None:
    with pytest.raises(ObservationError) as caught:
        two_leaves().act(observation)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_bad_batches_are_refused_and_huge_numbers_are_not() -> None:
    with pytest.raises(ObservationError, match="gap is nan in observation 1"):
        two_leaves().act_batch([[1.0, 0.0], [math.nan, 0.0]])
    with pytest.raises(ObservationError, match=r"shape \(2,\)"):
        two_leaves().act_batch([1.0, 2.0])
    with pytest.raises(ObservationError, match="not a table of numbers"):
        two_leaves().act_batch([["a", "b"]])
    assert two_leaves().act_batch([[1e308, 1.0], [1e308, 1.0]]).tolist() == [[4.0], [4.0]]


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ((), "no node"),
        ((Split(0, 1.0, 0, 1), CONSTANT), "leads back to node 0"),
        ((Split(0, 1.0, 1, 1), CONSTANT), "each node has one parent"),
        ((Split(0, 1.0, 1, 7), CONSTANT), "above leads to node 7"),
        ((Split(2, 1.0, 1, 2), CONSTANT, CONSTANT), "uses feature 2"),
        ((Split(0, math.nan, 1, 2), CONSTANT, CONSTANT), "threshold is nan"),
        ((CONSTANT, CONSTANT), "node 1 is unreachable: nothing leads to it"),
        ((CONSTANT, Split(0, 1.0, 1, 2), CONSTANT), "on a cycle"),
        ((Leaf(()),), "found 0 controllers"),
        ((Leaf((Controller(bias=math.inf),)),), "bias of push is inf"),
        ((Leaf((Controller(((0, 1.0), (0, 2.0))),)),), "two weights for gap"),
        ((Leaf((Controller(((True, 1.0),)),)),), "uses feature True"),
        ((Leaf((Controller(),), (0.0, 1.0)),), "log_std has 2 numbers, expected 1"),
    ],
)
def test_unsound_trees_are_refused(nodes: tuple[Split | Leaf, ...], says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy("p", FLAG, PUSH, nodes)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Feature("2nd"), "a name is letters"),
        (lambda: Feature("x", low=1, high=0), "low is 1 and high is 0"),
        (lambda: Feature("x", low=math.nan), "expected low <= high"),
        (lambda: Feature("x", origin="guess"), "origin is 'guess'"),
        (lambda: Feature("x", unit="m\x1b[31m"), "printed on one line"),
        (lambda: Policy("p", (*FLAG, FLAG[0]), PUSH, (CONSTANT,)), "Two features are called 'gap'"),
        (lambda: Policy("p", (), PUSH, (CONSTANT,)), "There is no feature"),
        (lambda: Policy("p", FLAG, PUSH, (CONSTANT,), "sigmoid"), "squash is 'sigmoid'"),
        (
            lambda: Policy("p", FLAG, (Action("a", "", 0, math.inf),), (CONSTANT,)),
            "needs finite limits",
        ),
        (lambda: two_leaves().feature_index("gpa"), "Did you mean 'gap'?"),
    ],
)
def test_unsound_parts_are_refused(make: object, says: str) -> None:
    with pytest.raises(IcctError) as caught:
        make()  # type: ignore[operator]
    assert says in str(caught.value)


def test_description() -> None:
    policy = two_leaves()
    assert (policy.splits, policy.leaves, policy.depth) == ((0,), (1, 2), 1)
    assert policy.used_features == (0, 1)
    assert policy.parameter_count == 3 + 1 + 3
    assert policy.noted("checked").provenance.history == ("checked",)


def test_an_action_that_overflows_is_refused() -> None:
    rule = Controller(((0, 1e200), (1, -1e200)))
    policy = Policy("steep", FLAG, PUSH, (Leaf((rule,)),))
    with pytest.raises(ObservationError, match="push is nan for observation 0"):
        policy.act([1e200, 1e200])
    with pytest.raises(ObservationError, match="push is nan for observation 1"):
        policy.act_batch([[1.0, 1.0], [1e200, 1e200]])
