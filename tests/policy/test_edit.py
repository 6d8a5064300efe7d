import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icct.errors import PolicyError
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.edit import (
    Report,
    rename,
    replace_leaf,
    replace_subtree,
    set_bias,
    set_threshold,
    set_weight,
    subtree_of,
)
from icct.zoo import zoo_policy
from tests.random_policies import observations_around, random_policy

RING = zoo_policy("ring-cruiser")
EGO = RING.feature_index("speed_ego")


def assert_bounded(before: Policy, after: Policy, report: Report, seed: int) -> None:
    """No observation inside the bounds moves an action further than the report says."""
    rng = np.random.default_rng(seed)
    for policy in (before, after):
        table = observations_around(policy, rng, rows=100)
        moved = np.abs(before.act_batch(table) - after.act_batch(table)).max(0)
        for bound, largest in zip(report.bounds, moved, strict=True):
            assert largest <= bound.largest


@given(seed=st.integers(0, 10**6), kind=st.integers(0, 4))
def test_no_edit_moves_an_action_beyond_its_bound(seed: int, kind: int) -> None:
    policy = random_policy(seed)
    rng = np.random.default_rng(seed)
    leaf, value = int(rng.choice(policy.leaves)), float(rng.normal())
    feature = policy.features[rng.integers(len(policy.features))].name
    action = policy.actions[rng.integers(len(policy.actions))].name
    if kind == 0 and policy.splits:
        edited, report = set_threshold(policy, int(rng.choice(policy.splits)), value)
    elif kind == 1:
        edited, report = set_weight(policy, leaf, action, feature, value)
    elif kind == 2:
        edited, report = set_bias(policy, leaf, action, value)
    elif kind == 3:
        edited, report = replace_leaf(policy, leaf, {action: Controller(bias=value)})
    else:
        source = int(rng.integers(len(policy.nodes)))
        edited, report = replace_subtree(policy, leaf, subtree_of(policy, source))
    assert_bounded(policy, edited, report, seed)
    assert len(edited.provenance.history) == len(policy.provenance.history) + 1


def test_a_threshold() -> None:
    edited, report = set_threshold(RING, 0, 0.12)
    assert edited.nodes[0] == Split(EGO, 0.12, 1, 2)
    assert RING.nodes[0] == Split(EGO, 0.1, 1, 2)
    # between 3 and 3.6 m/s the rule 35 - 300 v gives way to full acceleration: 2 at the most
    assert report.bounds[0].largest == pytest.approx(2.0)
    assert str(report) == (
        "split 0: threshold 0.1 becomes 0.12 (3 to 3.6 m/s)\n"
        "  acceleration changes by at most 2 m/s^2"
    )


def test_weights_and_biases() -> None:
    edited, report = set_weight(RING, 3, "acceleration", "speed_ego", -290.0)
    assert edited.nodes[3] == Leaf((Controller(((EGO, -290.0),), 35.0),))
    assert report.bounds[0].largest == pytest.approx(1.2)  # at 0.12, where the old rule is at -1
    edited, _ = set_weight(edited, 3, "acceleration", "speed_human_0", 1.0)
    edited, _ = set_weight(edited, 3, "acceleration", "speed_ego", 0.0)
    edited, _ = set_bias(edited, 3, "acceleration", -2.0)
    assert edited.nodes[3] == Leaf((Controller(((0, 1.0),), -2.0),))
    assert len(edited.provenance.history) == 5


def test_pruning_and_growing() -> None:
    pruned, _ = replace_subtree(RING, 2, subtree_of(RING, 3))
    assert [type(node) for node in pruned.nodes] == [Split, Leaf, Leaf]
    stump = (Split(0, 0.5, 1, 2), *(Leaf((Controller(bias=b),)) for b in (-1.0, 1.0)))
    grown, _ = replace_subtree(RING, 1, stump)
    assert len(grown.leaves) == 4
    assert grown.act([0.9] + [0.0] * 43)[0] == 1.0
    assert subtree_of(grown, 1) == stump


def test_renaming_changes_no_action() -> None:
    edited, report = rename(RING, {"speed_ego": "speed_own", "acceleration": "push"})
    assert edited.features[EGO].name == "speed_own"
    assert edited.actions[0].name == "push"
    assert report.bounds[0].largest == 0.0
    assert "no action changes" in str(report)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda: set_threshold(RING, 1, 0.0), "node 1 is a leaf and has no threshold"),
        (lambda: set_threshold(RING, 9, 0.0), "has no node 9; its nodes are 0 to 4"),
        (lambda: set_threshold(RING, 0, float("nan")), "threshold is nan"),
        (lambda: set_bias(RING, 0, "acceleration", 0.0), "node 0 is a split"),
        (lambda: set_bias(RING, 1, "steering", 0.0), "'steering' is not one of its actions"),
        (lambda: set_weight(RING, 1, "acceleration", "sped_ego", 0.0), "Did you mean 'speed_ego'"),
        (lambda: replace_subtree(RING, 1, (Split(0, 0.0, 0, 0),)), "leads back to node 0"),
        (lambda: rename(RING, {"speed_ego": "speed_human_0"}), "Two features are called"),
        (lambda: rename(RING, {"sped_ego": "x"}), "Did you mean 'speed_ego'"),
    ],
)
def test_wrong_edits_are_refused(change: object, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        change()  # type: ignore[operator]
    assert says in str(caught.value)
