"""Pruning: what goes, what must stay, and that the return decides."""

from dataclasses import replace

import pytest

from icct.envs.task import Task
from icct.errors import PolicyError
from icct.evaluate import evaluate
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.simplify import simplify
from icct.polish.prune import FIRST_EPISODES, prune
from icct.zoo import zoo_policy

BALANCER = zoo_policy("pole-balancer")


def with_leaf(policy: Policy, index: int, rule: Controller) -> Policy:
    leaf = replace(policy.leaf(index), controllers=(rule,))
    return replace(policy, nodes=(*policy.nodes[:index], leaf, *policy.nodes[index + 1 :]))


def returns_of(policy: Policy) -> tuple[float, ...]:
    return evaluate(policy, "inverted-pendulum", episodes=10).returns


def test_a_leaf_that_no_episode_reaches_goes() -> None:
    nodes = list(BALANCER.nodes)
    angle = BALANCER.feature_index("pole_angle")
    count = len(nodes)
    dead = Leaf((Controller((), 0.0),))
    moved = [
        replace(n, below=n.below + 1, above=n.above + 1) if isinstance(n, Split) else n
        for n in nodes
    ]
    high = BALANCER.features[angle].high
    root = Split(angle, 0.95 * high, 1, count + 1)
    policy = replace(BALANCER, nodes=(root, *moved, dead))
    result = prune(policy, "inverted-pendulum", episodes=FIRST_EPISODES)
    assert len(result.policy.leaves) < len(policy.leaves)
    assert any("no episode reached" in change for change in result.changes)
    assert sum(result.after) >= sum(result.before)


def test_numbers_get_shorter_and_history_says_so() -> None:
    result = prune(BALANCER, "inverted-pendulum", episodes=FIRST_EPISODES)
    numbers = [
        number
        for node in result.policy.nodes
        for number in (
            [node.threshold]
            if isinstance(node, Split)
            else [w for rule in node.controllers for _, w in rule.weights]
        )
    ]
    assert all(float(f"{number:.4g}") == number for number in numbers)
    assert result.policy.provenance.history[-1].startswith("pruned: ")
    assert result.policy.parameter_count <= BALANCER.parameter_count


def test_branches_out_of_reach_are_named_where_there_are_some() -> None:
    def named(policy: Policy) -> bool:
        changes = prune(policy, "inverted-pendulum", episodes=4).changes
        return any("out of reach" in change for change in changes)

    assert named(BALANCER)
    assert not named(simplify(BALANCER)[0])


def test_what_the_return_needs_stays() -> None:
    result = prune(BALANCER, "inverted-pendulum", episodes=10)
    assert sum(returns_of(result.policy)) >= 0.97 * sum(returns_of(BALANCER))


def test_values_far_beyond_saturation_shrink() -> None:
    policy = BALANCER
    for index in policy.leaves:
        rule = policy.leaf(index).controllers[0]
        large = Controller(tuple((f, 300 * w) for f, w in rule.weights), 300 * rule.bias)
        policy = with_leaf(policy, index, large)
    policy = replace(policy, squash="tanh")
    result = prune(policy, "inverted-pendulum", episodes=FIRST_EPISODES)

    def largest(one: Policy) -> float:
        rules = [rule for i in one.leaves for rule in one.leaf(i).controllers]
        return max(abs(weight) for rule in rules for _, weight in rule.weights)

    assert largest(result.policy) < largest(policy)
    assert sum(result.after) >= sum(result.before)


def test_the_same_with_any_number_of_workers() -> None:
    one = prune(BALANCER, "inverted-pendulum", episodes=6, workers=1)
    two = prune(BALANCER, "inverted-pendulum", episodes=6, workers=2)
    assert one == two


def test_nothing_is_taken_that_is_not_accepted() -> None:
    result = prune(BALANCER, "inverted-pendulum", episodes=6, accept=lambda one: one == BALANCER)
    assert result.policy == BALANCER
    assert result.changes == ()


def test_another_task_is_refused() -> None:
    with pytest.raises(PolicyError, match="cart_position"):
        prune(BALANCER, Task.from_env("MountainCarContinuous-v0"), episodes=2)
