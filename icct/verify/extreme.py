"""The largest and smallest action of a leaf over a box, and the observation that shows it.

A linear rule is largest at a corner of a box, and so is the number that float64 computes for it
(see `icct.policy.rounding`).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from icct.policy.parts import Controller
from icct.policy.parts import squash as squashed
from icct.policy.policy import Policy
from icct.policy.region import Box, end_of, middle
from icct.policy.rounding import LARGEST, range_of, tanh_slack

FAR = (1.0, 1e2, 1e4, 1e8, 1e16, 1e32, 1e100, 1e200, 1e300, LARGEST)  # stand for infinity


@dataclass(frozen=True)
class Extreme:
    """The end of an action's range over a box: reached at `corner`, passed by `slack` at most."""

    value: float  # what act() returns at the corner; ±inf when the rule overflows before it
    slack: float  # 0 but for tanh
    corner: Mapping[int, float]  # the rule's features; infinite where the box is


def extreme(policy: Policy, leaf: int, action: int, box: Box, way: int) -> Extreme:
    """Return the largest (way 1) or smallest (way -1) action of a leaf over a box.

    >>> from icct.policy.region import leaf_regions
    >>> from icct.zoo import zoo_policy
    >>> policy = zoo_policy("ring-cruiser")
    >>> round(extreme(policy, 3, 0, leaf_regions(policy)[3], 1).value, 9)
    1.0
    """
    node = policy.leaf(leaf)
    rule = node.controllers[action]
    corner = corner_of(rule, box, way)
    values = range_of(rule, box)
    value = float(squashed(values[way > 0], policy.actions[action], policy.squash))
    if policy.squash != "tanh":
        return Extreme(value, 0.0, corner)
    limits = policy.actions[action]
    limit = limits.centre + way * limits.half_range  # where tanh is ±1, which it never passes
    return Extreme(value, min(tanh_slack(limits, *values), abs(limit - value)), corner)


def corner_of(rule: Controller, box: Box, way: int) -> dict[int, float]:
    """Return where in a box a rule is largest (way 1) or smallest (way -1), by feature."""
    return {
        feature: end_of(box[feature], way if weight > 0 else -way)
        if weight != 0.0
        else middle(box[feature])
        for feature, weight in rule.weights
    }


def observations_at(corner: Mapping[int, float], box: Box) -> Iterator[tuple[float, ...]]:
    """Yield observations at a corner, or towards it where it lies at infinity."""
    point = [corner.get(feature, middle(interval)) for feature, interval in enumerate(box)]
    for far in FAR:
        yield tuple(
            value
            if math.isfinite(value)
            else min(max(math.copysign(far, value), end_of(interval, -1)), interval.high)
            for value, interval in zip(point, box, strict=True)
        )
        if all(map(math.isfinite, point)):
            return
