"""How far two policies can act apart: a bound that holds for every observation in a box.

The bound is sound, not always tight: where both rules pass through a tanh it takes the smaller of
two over-estimates. `edit` and `simplify` report it; an exact answer with a witness is verify's.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from icct.errors import PolicyError
from icct.policy.parts import Action, Controller, Leaf, Node, Split, Squash, squash
from icct.policy.policy import Policy
from icct.policy.region import Box, bounds, halves, is_empty, range_of, rounding_of

ROUNDING = 1e-12  # bounds below it are called rounding in words
Nodes = Sequence[Node] | Mapping[int, Node]


@dataclass(frozen=True)
class ActionBound:
    """Over the declared bounds, `action` changes by at most `largest`, in its unit."""

    action: str
    unit: str
    largest: float

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if math.isinf(self.largest):
            return f"{self.action} may change without limit: a feature it uses has no bounds"
        if self.largest < ROUNDING:
            return f"{self.action} changes by rounding only, at most {self.largest:.1g}{unit}"
        return f"{self.action} changes by at most {self.largest:.6g}{unit}"


def action_bounds(before: Policy, after: Policy) -> tuple[ActionBound, ...]:
    """Return, for each action, a bound on how far the two policies act apart.

    Both must have the same features and actions up to names; the box is the bounds of `before`.
    """
    if len(before.features) != len(after.features) or len(before.actions) != len(after.actions):
        raise PolicyError(
            f"{before.name} has {len(before.features)} features and {len(before.actions)} actions, "
            f"{after.name} has {len(after.features)} and {len(after.actions)}: "
            "they cannot be compared."
        )
    same_squash = before.squash == after.squash and [
        (action.low, action.high) for action in before.actions
    ] == [(action.low, action.high) for action in after.actions]
    largest = [0.0] * len(before.actions)
    waiting = [(0, 0, bounds(before))]
    while waiting:
        i, j, box = waiting.pop()
        if is_empty(box) or (same_squash and same_subtree(before.nodes, i, after.nodes, j)):
            continue
        one, other = before.nodes[i], after.nodes[j]
        if isinstance(one, Split):
            below, above = halves(box, one)
            waiting += [(one.below, j, below), (one.above, j, above)]
        elif isinstance(other, Split):
            below, above = halves(box, other)
            waiting += [(i, other.below, below), (i, other.above, above)]
        else:
            for position in range(len(before.actions)):
                gap = _leaf_gap(before, one, after, other, position, box, same_squash)
                largest[position] = max(largest[position], gap)
    return tuple(
        ActionBound(action.name, action.unit, gap)
        for action, gap in zip(after.actions, largest, strict=True)
    )


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


def _leaf_gap(
    before: Policy,
    one: Leaf,
    after: Policy,
    other: Leaf,
    position: int,
    box: Box,
    same_squash: bool,
) -> float:
    rule, new_rule = one.controllers[position], other.controllers[position]
    action, new_action = before.actions[position], after.actions[position]
    if same_squash and rule == new_rule:
        return 0.0
    low, high = _squashed_range(rule, box, action, before.squash)
    new_low, new_high = _squashed_range(new_rule, box, new_action, after.squash)
    by_range = max(high - new_low, new_high - low)
    if not same_squash:
        return by_range
    # No squash is steeper than its scale: tanh has slope 1 at 0, times half the action's range.
    scale = action.half_range if before.squash == "tanh" else 1.0
    apart_low, apart_high = range_of(_minus(rule, new_rule), box)
    by_rule = max(abs(apart_low), abs(apart_high)) + rounding_of(rule, box)
    by_rule = scale * (by_rule + rounding_of(new_rule, box))
    squash_rounding = 4 * math.ulp(max(abs(low), abs(high), abs(new_low), abs(new_high)))
    return min(by_range, by_rule) + squash_rounding


def _squashed_range(
    controller: Controller, box: Box, action: Action, kind: Squash
) -> tuple[float, float]:
    low, high = range_of(controller, box)
    return float(squash(low, action, kind)), float(squash(high, action, kind))


def _minus(one: Controller, other: Controller) -> Controller:
    weights = dict(one.weights)
    for index, weight in other.weights:
        weights[index] = weights.get(index, 0.0) - weight
    return Controller(tuple(weights.items()), one.bias - other.bias)
