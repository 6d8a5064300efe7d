from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icct.errors import PolicyError
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.simplify import simplify
from tests.policy.test_edit import assert_bounded
from tests.random_policies import observations_around, random_policy

ONE, TWO = Leaf((Controller(bias=1.0),)), Leaf((Controller(bias=2.0),))


def tree(*nodes: Split | Leaf) -> Policy:
    features = (Feature("gap", "m", 0, 10), Feature("contact", "", 0, 1))
    return Policy("tree", features, (Action("push", "N", -5, 5),), nodes, "clip")


@given(seed=st.integers(0, 10**6))
def test_without_rounding_nothing_changes_inside_the_bounds(seed: int) -> None:
    policy = random_policy(seed)
    simpler, report = simplify(policy)
    table = observations_around(policy, np.random.default_rng(seed), rows=100)
    assert np.array_equal(policy.act_batch(table), simpler.act_batch(table))
    assert all(bound.largest == 0 for bound in report.bounds)
    assert len(simpler.nodes) <= len(policy.nodes)
    assert simplify(simpler)[0] == simpler


@given(seed=st.integers(0, 10**6), decimals=st.integers(0, 3), drop=st.floats(0, 1))
def test_rounding_stays_within_its_bound(seed: int, decimals: int, drop: float) -> None:
    policy = random_policy(seed)
    simpler, report = simplify(policy, decimals=decimals, drop_below=drop)
    assert_bounded(policy, simpler, report, seed)
    assert simplify(simpler, decimals=decimals)[0] is simpler


def test_dead_branches_go() -> None:
    policy = tree(
        Split(0, 5.0, 1, 2),
        Split(0, 7.0, 3, 4),  # below 5, nothing is above 7
        Split(1, 1.0, 5, 6),  # nothing is above its upper bound
        ONE,
        TWO,
        TWO,
        ONE,
    )
    simpler, report = simplify(policy)
    assert simpler.nodes == (Split(0, 5.0, 1, 2), ONE, TWO)
    assert report.changes == (
        "split 1 removed: inside the bounds nothing goes above gap = 7",
        "split 2 removed: inside the bounds nothing goes above contact = 1",
        "leaves 4 -> 2, parameters 13 -> 5",
    )
    assert simpler.provenance.history[-1].startswith("simplified: split 1 removed")


def test_equal_siblings_merge_up_to_the_root() -> None:
    policy = tree(Split(0, 5.0, 1, 2), Split(1, 0.5, 3, 4), Split(1, 0.5, 5, 6), ONE, ONE, ONE, ONE)
    simpler, report = simplify(policy)
    assert simpler.nodes == (ONE,)
    assert "3 splits with equal sides removed" in report.changes


def test_rounding_says_what_it_changed() -> None:
    policy = tree(Leaf((Controller(((0, 0.123), (1, 0.004)), 1.006),)))
    simpler, report = simplify(policy, decimals=2)
    assert simpler.nodes == (Leaf((Controller(((0, 0.12),), 1.01),)),)
    # at gap 10, contact 1: 0.03 + 0.004 - 0.004; at gap 0, contact 0: 0.004
    assert report.bounds[0].largest == pytest.approx(0.03)
    dropped, report = simplify(policy, drop_below=0.01)
    assert dropped.nodes == (Leaf((Controller(((0, 0.123),), 1.006),)),)
    assert report.changes[0] == "1 small weight dropped"
    assert report.bounds[0].largest == pytest.approx(0.004)


def test_nothing_to_do() -> None:
    policy = tree(Split(0, 5.0, 1, 2), ONE, TWO)
    simpler, report = simplify(policy)
    assert simpler is policy
    assert str(report).startswith("nothing changed")


def test_without_bounds_the_change_may_be_unbounded() -> None:
    policy = tree(Leaf((Controller(((0, 0.123),), 0.0),)))
    policy = replace(policy, squash="none", features=(Feature("gap"), Feature("contact")))
    _, report = simplify(policy, decimals=1)
    assert "may change without limit" in str(report)


def test_bad_options_are_refused() -> None:
    with pytest.raises(PolicyError, match="decimals is -1"):
        simplify(tree(ONE), decimals=-1)


@given(seed=st.integers(0, 10**6), within=st.sampled_from([0.0, 0.01, 0.1, 1.0]))
@settings(max_examples=25)
def test_within_keeps_its_word(seed: int, within: float) -> None:
    policy = random_policy(seed, leaves=5, features=3)
    simpler, report = simplify(policy, within=within)
    assert_bounded(policy, simpler, report, seed)
    assert all(bound.largest <= within for bound in report.bounds)
    assert len(simpler.leaves) <= len(policy.leaves)


def test_within_merges_drops_and_rounds() -> None:
    policy = tree(
        Split(0, 5.03, 1, 2),
        Split(1, 0.5, 3, 4),
        Leaf((Controller(((0, 0.2), (1, 0.004)), -4.0),)),
        Leaf((Controller(((0, 0.101),), 1.003),)),
        Leaf((Controller(((0, 0.099),), 1.001),)),
    )
    simpler, report = simplify(policy, within=0.05)
    assert simpler.nodes == (
        Split(0, 5.03, 1, 2),
        Leaf((Controller(((0, 0.1),), 1.0),)),
        Leaf((Controller(((0, 0.2),), -4.0),)),
    )
    assert report.changes[:3] == (
        "1 leaf merged into others",
        "1 weight of little effect dropped",
        "rules rounded to 1 decimal",
    )
    assert 0 < report.bounds[0].largest <= 0.05
    assert len(simplify(policy, within=0.0005)[0].leaves) == 3
    with pytest.raises(PolicyError, match="within is -1"):
        simplify(policy, within=-1)
