"""How far two policies act apart inside a box, where, and in how much of it they act alike.

The largest difference is the exact supremum but for rounding, which is added, so no observation
inside the bounds shows more. `edit` and `simplify` report it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icct.errors import ObservationError, PolicyError
from icct.policy.gap import Rule, gap_by_range, largest_gap
from icct.policy.parts import Node, Split
from icct.policy.policy import Policy
from icct.policy.quantity import physical_unit
from icct.policy.region import Box, bounds, end_of, halves, is_empty, looked_at
from icct.policy.text import value_text

ROUNDING = 1e-12  # bounds below it are called rounding in words
FAR = 1e9  # stands for an infinite bound in an observation that shows a difference
Nodes = Sequence[Node] | Mapping[int, Node]


@dataclass(frozen=True)
class ActionBound:
    """Over the declared bounds, `action` changes by at most `largest`, in its unit.

    At `observation` it changes by `shown`: as far, but for rounding. Where a bound is infinite, or
    so large that rounding counts or a rule overflows, it may be less.
    """

    action: str
    unit: str
    largest: float
    shown: float = 0.0
    observation: tuple[float, ...] | None = None  # None when nothing changes, or none was found

    def __str__(self) -> str:
        scale, name = physical_unit(self.unit)
        unit = f" {name}" if name else ""
        if math.isinf(self.largest):
            why = "a feature it uses has no bounds, or its rule overflows inside them"
            return f"{self.action} may change without limit: {why}"
        if self.largest < ROUNDING:
            return (
                f"{self.action} changes by rounding only, at most {self.largest * scale:.1g}{unit}"
            )
        return f"{self.action} changes by at most {self.largest * scale:.6g}{unit}"


@dataclass(frozen=True)
class Difference:
    """What tells two policies apart inside the declared bounds of the first."""

    actions: tuple[ActionBound, ...]
    alike: float | None  # share of the box where the same rules act; None when it is infinite

    @property
    def largest(self) -> float:
        """The largest change of any action."""
        return max(bound.largest for bound in self.actions)

    def as_text(self, before: Policy, after: Policy) -> str:
        """Return a few lines for people, with the features that the two policies look at."""
        lines = []
        for bound in self.actions:
            lines.append(str(bound) if bound.largest > 0 else f"{bound.action} never changes")
            if bound.observation is not None:
                used = looked_at(before, bound.observation) | looked_at(after, bound.observation)
                named = zip(before.features, bound.observation, strict=True)
                seen = " ".join(
                    value_text(f.name, v, f.unit) for i, (f, v) in enumerate(named) if i in used
                )
                scale, unit = physical_unit(bound.unit)
                shown = f"{bound.shown * scale:.6g} {unit}".rstrip()
                lines.append(f"  shown: {shown} at {seen}")
        if self.alike is not None:
            lines.append(f"the same rules act in {100 * self.alike:.4g} % of the box")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "actions": [
                {
                    "action": bound.action,
                    "unit": bound.unit,
                    "largest": bound.largest if math.isfinite(bound.largest) else None,
                    "shown": bound.shown if math.isfinite(bound.shown) else None,
                    "observation": bound.observation and list(bound.observation),
                }
                for bound in self.actions
            ],
            "alike": self.alike,
        }


def difference(before: Policy, after: Policy, box: Box | None = None) -> Difference:
    """Return how far two policies act apart, action by action.

    Both must have the same features and actions up to names; the box is by default the declared
    bounds of `before`.

    >>> from icct.policy.edit import set_bias
    >>> from icct.zoo import zoo_policy
    >>> policy = zoo_policy("ring-cruiser")
    >>> moved = difference(policy, set_bias(policy, 1, "acceleration", 0.75)[0])
    >>> round(moved.actions[0].largest, 9), moved.alike
    (0.25, 0.9)
    """
    if len(before.features) != len(after.features) or len(before.actions) != len(after.actions):
        raise PolicyError(
            f"{before.name} has {len(before.features)} features and {len(before.actions)} actions, "
            f"{after.name} has {len(after.features)} and {len(after.actions)}: "
            "they cannot be compared."
        )
    whole = bounds(before) if box is None else box
    largest = [ActionBound(action.name, action.unit, 0.0) for action in after.actions]
    unlike = 0.0
    for i, j, part in unlike_leaves(before, after, whole):
        unlike += _share(part, whole)
        for position in range(len(before.actions)):
            one, other = rule_of(before, i, position), rule_of(after, j, position)
            if one != other:
                largest[position] = _larger(largest[position], one, other, part)
    finite = all(math.isfinite(interval.high - interval.low) for interval in whole)
    return Difference(
        tuple(_shown(bound, before, after, k) for k, bound in enumerate(largest)),
        max(0.0, 1.0 - unlike) if finite else None,
    )


def unlike_leaves(before: Policy, after: Policy, box: Box) -> Iterator[tuple[int, int, Box]]:
    """Yield the pairs of leaves that share a part of the box and are not written alike."""
    alike = same_limits(before, after)
    waiting = [(0, 0, box)]
    while waiting:
        i, j, part = waiting.pop()
        if is_empty(part) or (alike and same_subtree(before.nodes, i, after.nodes, j)):
            continue
        one, other = before.nodes[i], after.nodes[j]
        if isinstance(one, Split):
            below, above = halves(part, one)
            waiting += [(one.below, j, below), (one.above, j, above)]
        elif isinstance(other, Split):
            below, above = halves(part, other)
            waiting += [(i, other.below, below), (i, other.above, above)]
        else:
            yield i, j, part


def same_limits(before: Policy, after: Policy) -> bool:
    """Return whether equal rules of two policies give equal actions."""
    limits = [[(a.low, a.high) for a in policy.actions] for policy in (before, after)]
    return before.squash == after.squash and limits[0] == limits[1]


def rule_of(policy: Policy, leaf: int, position: int) -> Rule:
    """Return the rule of one action in a leaf."""
    node = policy.leaf(leaf)
    action = policy.actions[position]
    plain = replace(action, name="a", unit="")  # two rules are equal whatever they are called
    return Rule(node.controllers[position], plain, policy.squash)


def same_subtree(nodes: Nodes, i: int, others: Nodes, j: int) -> bool:
    """Return whether two subtrees decide alike because they are written alike."""
    waiting = [(i, j)]
    while waiting:
        i, j = waiting.pop()
        one, other = nodes[i], others[j]
        if isinstance(one, Split) and isinstance(other, Split):
            if (one.feature, one.threshold) != (other.feature, other.threshold):
                return False
            waiting += [(one.below, other.below), (one.above, other.above)]
        elif (
            isinstance(one, Split)
            or isinstance(other, Split)
            or one.controllers != other.controllers
        ):
            return False
    return True


def _larger(found: ActionBound, one: Rule, other: Rule, box: Box) -> ActionBound:
    """Return the larger of what was found so far and the gap of two rules, either way round."""
    for first, second in ((one, other), (other, one)):
        if gap_by_range(first, second, box) > found.largest:
            gap = largest_gap(first, second, box)
            if gap.largest > found.largest:
                found = replace(found, largest=gap.largest, observation=_finite(gap.point, box))
    return found


def _finite(point: tuple[float, ...], box: Box) -> tuple[float, ...]:
    """Return an observation towards a point that may lie at infinity."""
    return tuple(
        value
        if math.isfinite(value)
        else min(max(math.copysign(FAR, value), end_of(i, -1)), i.high)
        for value, i in zip(point, box, strict=True)
    )


def _shown(bound: ActionBound, before: Policy, after: Policy, position: int) -> ActionBound:
    if bound.observation is None:
        return bound
    try:
        one, other = (policy.act(bound.observation).tolist() for policy in (before, after))
    except ObservationError:  # a rule overflows there, though not everywhere
        return replace(bound, observation=None)
    return replace(bound, shown=abs(one[position] - other[position]))


def _share(part: Box, whole: Box) -> float:
    """Return the share of a finite box that a part of it takes up, by volume."""
    share = 1.0
    for small, large in zip(part, whole, strict=True):
        if math.isfinite(large.high - large.low) and large.high > large.low:
            share *= (small.high - small.low) / (large.high - large.low)
    return share
