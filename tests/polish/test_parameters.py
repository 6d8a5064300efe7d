import dataclasses

import numpy as np
import pytest

from icct.policy import Split
from icct.polish.parameters import (
    Bias,
    Threshold,
    Weight,
    free_parameters,
    moved,
    rows_by_node,
)
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
    assert kinds == [(Threshold, None), (Weight, 1), (Bias, None), (Weight, 2), (Bias, None)]
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
