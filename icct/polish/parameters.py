"""Policy ↔ vector: the numbers that the continuous search turns, each in a scale of its own.

The vector of zeros is the policy itself, to the last bit; a step of 1 anywhere changes the action
by about as much. Numbers that do nothing on what the policy sees are left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.parts import Node
from icct.polish.game import Table

# What a policy sees at a node: the rows of its observations that pass it.
Rows = dict[int, Table]


@dataclass(frozen=True)
class Threshold:
    """The threshold of a split; a step of 1 is the spread of its feature there."""

    node: int
    scale: float


@dataclass(frozen=True)
class Weight:
    """A weight of a leaf's rule. It turns the rule around the mean of what the leaf sees."""

    node: int
    action: int
    feature: int
    scale: float
    mean: float


@dataclass(frozen=True)
class Bias:
    """The constant of a leaf's rule."""

    node: int
    action: int
    scale: float


Parameter = Threshold | Weight | Bias


def rows_by_node(policy: Policy, seen: Table) -> Rows:
    """Return the observations that pass each node."""
    rows: Rows = {0: seen}
    for _, index in policy.levels():  # parents before their children
        if isinstance(node := policy.nodes[index], Split):
            above = rows[index][:, node.feature] > node.threshold
            rows[node.below], rows[node.above] = rows[index][~above], rows[index][above]
    return rows


def free_parameters(policy: Policy, rows: Rows) -> tuple[Parameter, ...]:
    """Return the parameters that do something on what the policy sees."""
    found: list[Parameter] = []
    for index, node in enumerate(policy.nodes):
        if not len(rows[index]):
            continue  # a dead leaf or subtree
        if isinstance(node, Split):
            column = rows[index][:, node.feature]
            spread = float(column.std())
            if spread and column.min() - spread <= node.threshold <= column.max() + spread:
                found.append(Threshold(index, spread))
        else:
            for action in range(len(policy.actions)):
                found += _rule_parameters(policy, index, node, action, rows[index])
    return tuple(found)


def _rule_parameters(
    policy: Policy, index: int, leaf: Leaf, action: int, seen: Table
) -> list[Parameter]:
    rule, found = leaf.controllers[action], list[Parameter]()
    unit = rule_unit(policy, action, rule, seen)
    for feature, _ in rule.weights:
        spread = float(seen[:, feature].std())
        if spread:
            mean = float(seen[:, feature].mean())
            found.append(Weight(index, action, feature, unit / spread, mean))
    return [*found, Bias(index, action, unit)]


def rule_unit(policy: Policy, action: int, rule: Controller, seen: Table) -> float:
    """Return a step of a rule's value that is sure to be felt in the action.

    It takes the value from the middle of the action's range to its limit, or, where the rule is
    saturated beyond that, half of the way back.
    """
    half_range = policy.actions[action].half_range
    to_limit = half_range if policy.squash != "tanh" and np.isfinite(half_range) else 1.0
    return max(to_limit, 0.5 * float(np.median(np.abs(values_of(rule, seen)))))


def values_of(rule: Controller, seen: Table) -> Table:
    """Return the rule's value for each observation, before squashing."""
    total = np.full(len(seen), rule.bias)
    for feature, weight in rule.weights:
        total += weight * seen[:, feature]
    return total


def moved(policy: Policy, parameters: Sequence[Parameter], vector: Sequence[float]) -> Policy:
    """Return the policy with every parameter moved by its step of the vector."""
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    leaves = {index: policy.leaf(index) for index in policy.leaves}
    for parameter, step in zip(parameters, vector, strict=True):
        change = parameter.scale * float(step)
        if isinstance(parameter, Threshold):
            split = policy.split(parameter.node)
            nodes[parameter.node] = replace(split, threshold=split.threshold + change)
            continue
        leaf = leaves[parameter.node]
        rules = list(leaf.controllers)
        rules[parameter.action] = _moved_rule(rules[parameter.action], parameter, change)
        leaves[parameter.node] = replace(leaf, controllers=tuple(rules))
    return replace(policy, nodes=tuple((nodes | leaves).values()))


def _moved_rule(rule: Controller, parameter: Weight | Bias, change: float) -> Controller:
    if isinstance(parameter, Bias):
        return replace(rule, bias=rule.bias + change)
    weights = dict(rule.weights)
    weights[parameter.feature] += change
    return Controller(tuple(weights.items()), rule.bias - change * parameter.mean)
