import dataclasses

import numpy as np
import pytest

from icct.policy import Controller, Leaf, Split
from icct.polish.climb import Climb
from icct.polish.moves import random_move, structure_changes
from icct.polish.parameters import (
    Bias,
    Threshold,
    Weight,
    free_parameters,
    moved,
    rows_by_node,
    rule_unit,
    values_of,
)
from icct.polish.rewire import NEGLIGIBLE, rewired
from tests.polish.toys import two_leaves
from tests.random_policies import observations_around, random_policy


def seen_by(policy, rows=300, seed=0):
    return observations_around(policy, np.random.default_rng(seed), rows)


def test_the_zero_vector_is_the_policy_itself():
    for seed in range(40):
        policy = random_policy(seed)
        parameters = free_parameters(policy, rows_by_node(policy, seen_by(policy)))
        assert moved(policy, parameters, [0.0] * len(parameters)) == policy


def test_the_rows_of_a_node_are_those_that_pass_it():
    policy = random_policy(7, leaves=9)
    seen = seen_by(policy)
    rows = rows_by_node(policy, seen)
    reached = policy.leaves_of(seen)
    for leaf in policy.leaves:
        assert np.array_equal(rows[leaf], seen[reached == leaf])


def test_only_numbers_that_do_something_are_free():
    seen = np.random.default_rng(0).uniform(-1, 1, (200, 4))
    seen[:, 3] = 0.5
    live = two_leaves(below=(((1, 1.0), (3, 1.0)), 0.0), above=(((2, 1.0),), 0.0))
    found = free_parameters(live, rows_by_node(live, seen))
    kinds = [(type(p), getattr(p, "feature", None)) for p in found]
    assert kinds == [(Threshold, 0), (Weight, 1), (Bias, None), (Weight, 2), (Bias, None)]
    dead = dataclasses.replace(live, nodes=(Split(0, -5.0, 1, 2), *live.nodes[1:]))
    found = free_parameters(dead, rows_by_node(dead, seen))
    assert [type(p) for p in found] == [Weight, Bias]
    assert {p.node for p in found} == {2}


def test_a_step_of_a_weight_turns_the_rule_around_what_the_leaf_sees():
    seen = np.random.default_rng(0).uniform(4, 6, (200, 4))
    policy = two_leaves(threshold=0.0, above=(((1, 0.2),), 0.0))
    parameters = free_parameters(policy, rows_by_node(policy, seen))
    weight = [isinstance(p, Weight) for p in parameters]
    turned = moved(policy, parameters, weight)
    rules = policy.nodes[2].controllers[0], turned.nodes[2].controllers[0]
    middle = seen.mean(axis=0).tolist()
    assert rules[1].value(middle) == pytest.approx(rules[0].value(middle))
    change = [rules[1].value(row) - rules[0].value(row) for row in seen.tolist()]
    assert np.std(change) == pytest.approx(1.0)  # the half range of the action, -1 to 1


def test_a_saturated_rule_gets_steps_that_are_felt():
    seen = np.random.default_rng(0).uniform(-1, 1, (200, 4))
    policy = dataclasses.replace(two_leaves(above=((), 40.0)), squash="tanh")
    biases = [p for p in free_parameters(policy, rows_by_node(policy, seen)) if type(p) is Bias]
    assert [bias.scale for bias in biases] == [1.0, 20.0]


def test_moves_keep_the_shape_of_the_tree_and_the_width_of_its_rules():
    rng, changed = np.random.default_rng(0), 0
    for seed in range(150):
        policy = random_policy(seed, leaves=6, features=5)
        move = random_move(policy, seen_by(policy, seed=seed), rng)
        if move is None:
            continue
        changed += move.nodes != policy.nodes
        assert [type(n) for n in move.nodes] == [type(n) for n in policy.nodes]
        for before, after in zip(policy.nodes, move.nodes, strict=True):
            if isinstance(after, Leaf):
                assert len(after.controllers) == len(before.controllers)
                for old, new in zip(before.controllers, after.controllers, strict=True):
                    assert len(new.weights) <= len(old.weights)
            else:
                assert {after.below, after.above} == {before.below, before.above}
    assert changed > 80


def test_rewiring_keeps_the_shape_and_hardly_changes_what_a_policy_does():
    rng, changed = np.random.default_rng(0), 0
    for seed in range(80):
        policy = random_policy(seed, leaves=6, features=5)
        seen = seen_by(policy, seed=seed)
        other = rewired(policy, seen, rng)
        if other is policy:
            continue
        changed += 1
        rows = rows_by_node(policy, seen)
        leaves = policy.leaves_of(seen)
        for action in range(len(policy.actions)):
            for index in policy.leaves:
                before, after = policy.nodes[index].controllers, other.nodes[index].controllers
                assert len(after[action].weights) <= len(before[action].weights)
            units = {
                i: rule_unit(policy, action, policy.nodes[i].controllers[action], rows[i])
                for i in set(leaves.tolist())
            }
            was, now = (_before_squashing(p, seen, action) for p in (policy, other))
            steps = np.abs(was - now) / np.array([units[i] for i in leaves.tolist()])
            assert steps.mean() < 2 * NEGLIGIBLE  # two features at most are exchanged
    assert changed > 20


def _before_squashing(policy, seen, action):
    leaves = policy.leaves_of(seen)
    out = np.empty(len(seen))
    for index in policy.leaves:
        rule, here = policy.nodes[index].controllers[action], leaves == index
        out[here] = values_of(rule, seen[here])
    return out


def test_rewiring_lets_an_idle_split_divide_two_copies_of_one_rule():
    policy = two_leaves(threshold=5.0, below=(((1, 0.5),), 0.2), above=(((2, 9.0),), -7.0))
    seen = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    other = rewired(policy, seen, np.random.default_rng(1))
    assert all(len(rows) for rows in rows_by_node(other, seen).values())
    assert np.array_equal(other.act_batch(seen), policy.act_batch(seen))


def test_rewiring_wakes_every_leaf_of_a_tree_whose_splits_are_all_idle():
    leaf = Leaf((Controller((), 0.2),))
    splits = [Split(0, 9.0, below=2 * i + 1, above=2 * i + 2) for i in range(7)]
    policy = dataclasses.replace(two_leaves(), nodes=(*splits, *[leaf] * 8))
    seen = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    other = rewired(policy, seen, np.random.default_rng(1))
    assert all(len(rows) for rows in rows_by_node(other, seen).values())
    assert np.array_equal(other.act_batch(seen), policy.act_batch(seen))


def test_rewiring_leaves_alone_what_does_something():
    policy = two_leaves(below=(((1, 0.5),), 0.0), above=(((2, -0.5),), 0.0))
    seen = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    assert rewired(policy, seen, np.random.default_rng(1)) is policy


def test_changes_of_structure_are_told_in_words():
    before = two_leaves(below=(((1, 0.5),), 0.0))
    after = two_leaves(split=2, threshold=0.25, below=(((3, 0.1),), 0.0))
    assert structure_changes(before, after) == (
        "split 0 tests c > 0.25",
        "leaf 1: push uses d",
    )
    turned = dataclasses.replace(before, nodes=(Split(0, 0.0, below=2, above=1), *before.nodes[1:]))
    assert structure_changes(before, turned) == ("split 0 tests a the other way round",)
    assert structure_changes(before, two_leaves(threshold=0.7, below=(((1, 0.1),), 2.0))) == ()


def test_a_climb_carries_its_spread_over_to_a_changed_tree():
    seen = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    policy = two_leaves(below=(((1, 0.5),), 0.0))
    climb = Climb(policy, seen, np.random.default_rng(1))
    for _ in range(60):
        climb.tell([-(p.nodes[2].controllers[0].bias ** 2) for p in climb.ask()])
    other = climb.moved_to(two_leaves(split=2, below=(((3, 0.5),), 0.0)), seen)
    places = [(type(p), p.node) for p in other._parameters]
    spread = dict(zip(places, np.sqrt(np.diag(other._covariance())), strict=True))
    usual = pytest.approx(np.sqrt(np.median(np.diag(climb._covariance()))), abs=1e-4)
    assert spread[Threshold, 0] == usual  # of another feature now
    assert spread[Weight, 1] == usual
    assert spread[Bias, 2] < 0.05  # it had converged


def test_a_plateau_makes_the_steps_larger():
    policy = two_leaves()
    climb = Climb(
        policy, np.random.default_rng(0).uniform(-1, 1, (50, 4)), np.random.default_rng(1)
    )
    before = np.diag(climb._covariance()).max()
    climb.tell([3.0] * len(climb.ask()))
    assert np.diag(climb._covariance()).max() > before
    climb.tell([-np.inf] * len(climb.ask()))
    assert climb.favourite == policy


def test_a_climb_with_another_crowd_goes_on_from_where_it_was():
    seen = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    climb = Climb(two_leaves(below=(((1, 0.5),), 0.0)), seen, np.random.default_rng(1))
    for _ in range(20):
        climb.tell([-(p.nodes[2].controllers[0].bias ** 2) for p in climb.ask()])
    few, covariance, favourite = len(climb.ask()), climb._covariance(), climb.favourite
    climb.resize(2.0)
    assert len(climb.ask()) == pytest.approx(2 * few, abs=1)
    assert np.allclose(climb._covariance(), covariance, rtol=1e-3, atol=1e-7)
    for was, now in zip(favourite.nodes[1:], climb.favourite.nodes[1:], strict=True):
        assert now.controllers[0].bias == pytest.approx(was.controllers[0].bias, abs=1e-9)
