"""Policy → (Policy, report): the same controller with less to read.

Removing branches that nothing inside the bounds reaches and merging equal siblings is exact there.
Rounding, dropping weights and merging unequal leaves are not; the report says what they change.
"""

from collections.abc import Callable
from dataclasses import replace

from icct.errors import PolicyError
from icct.policy.difference import difference, same_subtree
from icct.policy.edit import Report, renumbered
from icct.policy.parts import Controller, Leaf, Node, Split
from icct.policy.policy import Policy
from icct.policy.region import halves, is_empty, node_regions
from icct.policy.shorten import Allowed, drop_features, merge_leaves, round_numbers
from icct.policy.words import counted


def simplify(
    policy: Policy,
    *,
    decimals: int | None = None,
    drop_below: float | None = None,
    within: float | None = None,
) -> tuple[Policy, Report]:
    """Return a policy with less to read, and a report of what changed.

    Args:
        policy: The policy to simplify.
        decimals: Round thresholds, weights and biases to this many decimals.
        drop_below: Drop leaf weights whose magnitude is smaller than this.
        within: Merge leaves, drop features and round as far as no action comes to differ by more
            than this from `policy`, in its unit, for any observation inside the bounds.

    >>> from icct.zoo import zoo_policy
    >>> simpler, report = simplify(zoo_policy("ring-cruiser"), decimals=0)
    >>> len(simpler.leaves)
    2
    """
    if decimals is not None and decimals < 0:
        raise PolicyError(f"decimals is {decimals}, expected 0 or more.")
    if within is not None and not within >= 0:
        raise PolicyError(f"within is {within}, expected 0 or more.")
    changes: list[str] = []
    result = policy
    if drop_below is not None:
        result = _with_numbers(result, lambda value: value, drop_below)
        changes += _dropped(policy, result)
    if decimals is not None:
        result = _with_numbers(result, lambda value: round(value, decimals) + 0.0)
        changes.append(f"numbers rounded to {counted(decimals, 'decimal', 'decimals')}")
    for step in (_without_dead_branches, _with_equal_siblings_merged):
        result, done = step(result)
        changes += done
    if within is not None:
        allowed = Allowed(policy, within)
        for shorten in (merge_leaves, drop_features, round_numbers):
            result, done = shorten(result, allowed)
            changes += done
        result, _ = _with_equal_siblings_merged(result)  # rounding can make siblings equal
    if result.nodes == policy.nodes:
        return policy, Report((), difference(policy, policy).actions)
    changes.append(
        f"leaves {len(policy.leaves)} -> {len(result.leaves)}, "
        f"parameters {policy.parameter_count} -> {result.parameter_count}"
    )
    result = result.noted(f"simplified: {'; '.join(changes)}")
    return result, Report(tuple(changes), difference(policy, result).actions)


def _without_dead_branches(policy: Policy) -> tuple[Policy, list[str]]:
    """Remove splits one side of which no observation inside the bounds reaches."""
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    changes = []
    for index, box in reversed(list(node_regions(policy))):
        node = nodes[index]
        if not isinstance(node, Split) or is_empty(box):
            continue  # an unreachable node goes with its parent
        below, above = halves(box, node)
        if is_empty(below) or is_empty(above):
            side, kept = ("below", node.above) if is_empty(below) else ("above", node.below)
            nodes[index] = nodes[kept]
            name = policy.features[node.feature].name
            changes.append(
                f"split {index} removed: inside the bounds nothing goes {side} "
                f"{name} = {node.threshold:g}"
            )
    return replace(policy, nodes=renumbered(nodes)), changes[::-1]


def _with_equal_siblings_merged(policy: Policy) -> tuple[Policy, list[str]]:
    """Remove splits both sides of which act alike."""
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    merged = 0
    for _, index in reversed(list(policy.levels())):
        node = nodes[index]
        if isinstance(node, Split) and same_subtree(nodes, node.below, nodes, node.above):
            nodes[index] = nodes[node.below]
            merged += 1
    count = counted(merged, "split", "splits")
    changes = [f"{count} with equal sides removed"] if merged else []
    return replace(policy, nodes=renumbered(nodes)), changes


def _with_numbers(
    policy: Policy, change: Callable[[float], float], drop_below: float = 0.0
) -> Policy:
    """Apply `change` to every threshold, weight and bias; leave out weights that end near 0."""

    def rule(controller: Controller) -> Controller:
        weights = tuple((index, change(weight)) for index, weight in controller.weights)
        kept = tuple(pair for pair in weights if abs(pair[1]) >= drop_below and pair[1] != 0.0)
        return Controller(kept, change(controller.bias))

    def changed(node: Node) -> Node:
        if isinstance(node, Split):
            return replace(node, threshold=change(node.threshold))
        return Leaf(tuple(rule(controller) for controller in node.controllers), node.log_std)

    return replace(policy, nodes=tuple(changed(node) for node in policy.nodes))


def _dropped(before: Policy, after: Policy) -> list[str]:
    def weights(policy: Policy) -> int:
        leaves = (node for node in policy.nodes if isinstance(node, Leaf))
        return sum(len(rule.weights) for leaf in leaves for rule in leaf.controllers)

    dropped = weights(before) - weights(after)
    return [f"{counted(dropped, 'small weight', 'small weights')} dropped"] if dropped else []
