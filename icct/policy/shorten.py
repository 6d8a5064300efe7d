"""Policy → shorter policy that acts within a given difference of the original, proven at each step.

Three greedy passes: one leaf in the place of a split, features dropped from rules, fewer decimals.
A step is kept only when the exact difference from the original, over its bounds, allows it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from icct.policy.difference import difference
from icct.policy.edit import renumbered
from icct.policy.parts import Controller, Leaf, Node, Split
from icct.policy.policy import Policy
from icct.policy.region import Box, end_of, leaf_regions, middle
from icct.policy.words import counted

MOST_DECIMALS = 15


@dataclass(frozen=True)
class Allowed:
    """No action may come further than `within` from what `original` does."""

    original: Policy
    within: float

    def permits(self, candidate: Policy) -> bool:
        """Return whether a candidate stays within the allowed difference."""
        return difference(self.original, candidate).largest <= self.within


def merge_leaves(policy: Policy, allowed: Allowed) -> tuple[Policy, list[str]]:
    """Replace splits by one leaf or one side where that is allowed, from the bottom up."""
    before = len(policy.leaves)
    index = len(policy.nodes) - 1
    while index >= 0:
        for candidate in _without_split(policy, index):
            if allowed.permits(candidate):
                policy = candidate
                break
        index = min(index, len(policy.nodes)) - 1
    merged = before - len(policy.leaves)
    count = counted(merged, "leaf", "leaves")
    return policy, [f"{count} merged into others"] if merged else []


def drop_features(policy: Policy, allowed: Allowed) -> tuple[Policy, list[str]]:
    """Take features out of rules where that is allowed, the smallest effects first."""
    effects = []
    for leaf, box in leaf_regions(policy).items():
        for position, rule in enumerate(policy.leaf(leaf).controllers):
            for feature, weight in rule.weights:
                width = end_of(box[feature], 1) - end_of(box[feature], -1)
                effect = abs(weight) * width if weight else 0.0  # 0 times an infinite width is NaN
                effects.append((effect, leaf, position, feature, box))
    dropped = 0
    for _, leaf, position, feature, box in sorted(effects, key=lambda effect: effect[:4]):
        candidate = _without_feature(policy, leaf, position, feature, box)
        if candidate is not None and allowed.permits(candidate):
            policy, dropped = candidate, dropped + 1
    count = counted(dropped, "weight", "weights")
    return policy, [f"{count} of little effect dropped"] if dropped else []


def round_numbers(policy: Policy, allowed: Allowed) -> tuple[Policy, list[str]]:
    """Round rules to the fewest decimals allowed, and each threshold as far as it allows."""
    changes = []
    for decimals in range(MOST_DECIMALS):
        candidate = _with_rounded_rules(policy, decimals)
        if allowed.permits(candidate):
            if candidate.nodes != policy.nodes:
                changes.append(f"rules rounded to {counted(decimals, 'decimal', 'decimals')}")
            policy = candidate
            break
    rounded = 0
    for index in policy.splits:
        for decimals in range(MOST_DECIMALS):
            candidate = _with_rounded_threshold(policy, index, decimals)
            if candidate == policy:
                break
            if allowed.permits(candidate):
                policy, rounded = candidate, rounded + 1
                break
    return policy, changes + ([f"{rounded} thresholds rounded"] if rounded else [])


def _without_split(policy: Policy, index: int) -> Iterator[Policy]:
    """Yield the policy with a split replaced by each side, and by the mean of two leaves."""
    split = policy.nodes[index]
    if not isinstance(split, Split):
        return
    below, above = policy.nodes[split.below], policy.nodes[split.above]
    for node in (below, above):
        yield _with_node(policy, index, node)
    if isinstance(below, Leaf) and isinstance(above, Leaf):
        rules = zip(below.controllers, above.controllers, strict=True)
        yield _with_node(policy, index, Leaf(tuple(_mean(one, other) for one, other in rules)))


def _mean(one: Controller, other: Controller) -> Controller:
    weights: dict[int, float] = {}
    for feature, weight in (*one.weights, *other.weights):
        weights[feature] = weights.get(feature, 0.0) + weight / 2
    return Controller(tuple(weights.items()), one.bias / 2 + other.bias / 2)


def _without_feature(
    policy: Policy, leaf: int, position: int, feature: int, box: Box
) -> Policy | None:
    """Return the policy with one feature of a rule at the middle of its interval, if finite."""
    rules = list(policy.leaf(leaf).controllers)
    weights = dict(rules[position].weights)
    bias = rules[position].bias + weights.pop(feature) * middle(box[feature])
    if not math.isfinite(bias):
        return None
    rules[position] = Controller(tuple(weights.items()), bias)
    return _with_node(policy, leaf, replace(policy.leaf(leaf), controllers=tuple(rules)))


def _with_rounded_rules(policy: Policy, decimals: int) -> Policy:
    def rounded(rule: Controller) -> Controller:
        weights = tuple((f, round(weight, decimals)) for f, weight in rule.weights)
        kept = tuple(pair for pair in weights if pair[1] != 0.0)
        return Controller(kept, round(rule.bias, decimals) + 0.0)

    nodes = tuple(
        replace(node, controllers=tuple(map(rounded, node.controllers)))
        if isinstance(node, Leaf)
        else node
        for node in policy.nodes
    )
    return replace(policy, nodes=nodes)


def _with_rounded_threshold(policy: Policy, index: int, decimals: int) -> Policy:
    split = policy.split(index)
    rounded = replace(split, threshold=round(split.threshold, decimals) + 0.0)
    return _with_node(policy, index, rounded)


def _with_node(policy: Policy, index: int, node: Node) -> Policy:
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    nodes[index] = node
    return replace(policy, nodes=renumbered(nodes))
