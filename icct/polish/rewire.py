"""Rewiring: features and splits that do nothing make room for others, at no cost in return.

A weight that hardly moves its rule is exchanged for a weight of zero on another feature; a split
that sends everything one way gets another feature and threshold, with the same rules on both sides.
The policy acts as before, or nearly, and the climb decides what becomes of the new numbers. Nothing
needs to be played.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.parts import Node
from icct.polish.game import Table
from icct.polish.moves import QUANTILES
from icct.polish.parameters import Rows, rows_by_node, rule_unit

NEGLIGIBLE = 0.1  # of the action's unit: a feature whose spread moves its rule less than that


def rewired(policy: Policy, seen: Table, rng: np.random.Generator) -> Policy:
    """Return a policy that acts nearly the same on what was seen, and can learn more.

    The very same policy when everything in it does something.
    """
    for _, index in policy.levels():  # the same shape throughout
        rows = rows_by_node(policy, seen)
        node = policy.nodes[index]
        if isinstance(node, Split):
            changed = _divided(policy, node, index, rows, rng)
        elif len(rows[index]) > 1:
            changed = {index: _refreshed(policy, node, rows[index], rng)}
        else:
            continue
        nodes = tuple(changed.get(i, node) for i, node in enumerate(policy.nodes))
        policy = policy if nodes == policy.nodes else replace(policy, nodes=nodes)
    return policy


def _divided(
    policy: Policy, split: Split, index: int, rows: Rows, rng: np.random.Generator
) -> dict[int, Node]:
    """Let a split that sends everything one way divide it, between two copies of that side."""
    dead, live = sorted((split.below, split.above), key=lambda side: len(rows[side]))
    copied = _copied(policy.nodes, live, dead)
    if len(rows[dead]) or len(rows[live]) < 2 or copied is None:
        return {}
    for feature in rng.permutation(len(policy.features)).tolist():
        column = rows[index][:, feature]
        threshold = float(np.quantile(column, rng.uniform(*QUANTILES)))
        if column.min() <= threshold < column.max():
            return {**copied, index: replace(split, feature=feature, threshold=threshold)}
    return {}


def _copied(nodes: Sequence[Node], source: int, target: int) -> dict[int, Node] | None:
    """Return the nodes of a subtree as those of another of the same shape; None if it has not."""
    ours, theirs = nodes[source], nodes[target]
    if isinstance(ours, Leaf) and isinstance(theirs, Leaf):
        pairs = zip(ours.controllers, theirs.controllers, strict=True)
        fits = all(len(new.weights) <= len(old.weights) for new, old in pairs)
        return {target: replace(theirs, controllers=ours.controllers)} if fits else None
    if isinstance(ours, Split) and isinstance(theirs, Split):
        below = _copied(nodes, ours.below, theirs.below)
        above = _copied(nodes, ours.above, theirs.above)
        if below is not None and above is not None:
            node = replace(theirs, feature=ours.feature, threshold=ours.threshold)
            return {target: node, **below, **above}
    return None


def _refreshed(policy: Policy, leaf: Leaf, seen: Table, rng: np.random.Generator) -> Leaf:
    """Exchange the features that hardly move the leaf's rules."""
    spread, middle = seen.std(axis=0), seen.mean(axis=0)
    rules = []
    for action, rule in enumerate(leaf.controllers):
        unit = rule_unit(policy, action, rule, seen)
        weights, bias = dict(rule.weights), rule.bias
        for feature, weight in rule.weights:
            others = [f for f in np.flatnonzero(spread).tolist() if f not in weights]
            if abs(weight) * spread[feature] < NEGLIGIBLE * unit and others:
                del weights[feature]
                bias += weight * float(middle[feature])
                weights[others[rng.integers(len(others))]] = 0.0
        rules.append(Controller(tuple(weights.items()), bias))
    return replace(leaf, controllers=tuple(rules))
