"""Policy → Measures: what can be said without a question, over the declared bounds.

Ranges are exact for float64; jumps and slopes are exact but for rounding. How a policy behaves in
episodes is not measured here but by `icct audit`.
"""

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from icct.policy.difference import rule_of
from icct.policy.parts import Split
from icct.policy.policy import Policy
from icct.policy.region import Box, bounds, is_empty, node_regions
from icct.policy.rounding import range_of
from icct.policy.text import number
from icct.verify.extreme import extreme
from icct.verify.jump import Jump, jumps_at
from icct.verify.search import leaves_in

Trend = Literal["rises", "falls", "mixed", "constant"]
Saturation = Literal["never", "partly", "always"]
NEARLY = 0.99  # of half the range: where tanh counts as saturated
ROUNDING = 1e-9  # jumps below it count as none in a trend


@dataclass(frozen=True)
class LeafMeasure:
    """One action in one leaf that some observation reaches."""

    leaf: int
    action: str
    low: float
    high: float
    lipschitz: float  # most that the action changes per unit of the largest feature change
    saturation: Saturation  # where it is at a limit (clip) or within 1 % of one (tanh)


@dataclass(frozen=True)
class Measures:
    """What holds for all observations inside the bounds."""

    policy: str
    reachable: tuple[int, ...]
    dead: tuple[int, ...]  # leaves that no observation inside the bounds reaches
    leaves: tuple[LeafMeasure, ...]
    jumps: tuple[Jump, ...]
    trends: tuple[tuple[str, tuple[tuple[str, Trend], ...]], ...]  # action → feature → trend

    @cached_property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Action → the smallest and the largest value that it ever takes."""
        found: dict[str, tuple[float, float]] = {}
        for leaf in self.leaves:
            low, high = found.get(leaf.action, (math.inf, -math.inf))
            found[leaf.action] = min(low, leaf.low), max(high, leaf.high)
        return found

    def as_text(self) -> str:
        """Return tables for people."""
        dead = ", ".join(map(str, self.dead)) or "none"
        lines = [
            f"{self.policy}: {len(self.reachable)} leaves are reachable; dead: {dead}",
            "",
            f"{'leaf':>4}  {'action':<16} {'low':>10} {'high':>10} {'slope':>10}  saturated",
        ]
        lines += [
            f"{leaf.leaf:>4}  {leaf.action:<16} {number(leaf.low):>10} {number(leaf.high):>10} "
            f"{number(leaf.lipschitz):>10}  {leaf.saturation}"
            for leaf in self.leaves
        ]
        for action, (low, high) in self.ranges.items():
            lines.append(f" all  {action:<16} {number(low):>10} {number(high):>10}")
        if self.jumps:
            lines += ["", f"{'split':>5}  {'action':<16} {'rise':>10} {'fall':>10}"]
        lines += [
            f"{jump.split:>5}  {jump.action:<16} {number(jump.rise):>10} {number(jump.fall):>10}"
            for jump in self.jumps
        ]
        lines.append("")
        for action, trends in self.trends:
            for word in ("rises", "falls", "mixed"):
                named = ", ".join(name for name, trend in trends if trend == word)
                if named:
                    goes = "goes both ways" if word == "mixed" else word
                    lines.append(f"{action} {goes} with {named}")
        return "\n".join(lines).rstrip()

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; infinite numbers become null."""
        return {
            "policy": self.policy,
            "reachable": list(self.reachable),
            "dead": list(self.dead),
            "ranges": {name: [_finite(v) for v in ends] for name, ends in self.ranges.items()},
            "leaves": [
                {key: _finite(v) if isinstance(v, float) else v for key, v in vars(leaf).items()}
                for leaf in self.leaves
            ],
            "jumps": [
                {
                    "split": jump.split,
                    "action": jump.action,
                    "rise": _finite(jump.rise),
                    "fall": _finite(jump.fall),
                    "observation": jump.observation and [_finite(v) for v in jump.observation],
                }
                for jump in self.jumps
            ],
            "trends": {action: dict(trends) for action, trends in self.trends},
        }


def measure(policy: Policy) -> Measures:
    """Return the measures of a policy over its declared bounds.

    >>> from icct.zoo import zoo_policy
    >>> measure(zoo_policy("ring-cruiser")).ranges
    {'acceleration': (-1.0, 1.0)}
    """
    boxes = dict(leaves_in(policy, bounds(policy)))
    leaves = tuple(
        _leaf_measure(policy, leaf, position, boxes[leaf])
        for leaf in sorted(boxes)
        for position in range(len(policy.actions))
    )
    jumps = tuple(
        jump
        for index, box in node_regions(policy)
        if isinstance(node := policy.nodes[index], Split)
        and not is_empty(box)
        and not box[node.feature].below(node.threshold).is_empty
        and not box[node.feature].above(node.threshold).is_empty
        for jump in jumps_at(policy, index, box)
    )
    trends = tuple(
        (action.name, tuple(_trends(policy, position, boxes, jumps)))
        for position, action in enumerate(policy.actions)
    )
    dead = tuple(leaf for leaf in policy.leaves if leaf not in boxes)
    return Measures(policy.name, tuple(sorted(boxes)), dead, leaves, jumps, trends)


def _leaf_measure(policy: Policy, leaf: int, position: int, box: Box) -> LeafMeasure:
    low, high = (extreme(policy, leaf, position, box, way).value for way in (-1, 1))
    return LeafMeasure(
        leaf,
        policy.actions[position].name,
        low,
        high,
        _lipschitz(policy, leaf, position, box),
        _saturation(policy, position, low, high),
    )


def _lipschitz(policy: Policy, leaf: int, position: int, box: Box) -> float:
    """Return the steepest slope against the largest change of any feature (L-infinity norm)."""
    rule = rule_of(policy, leaf, position)
    steepest = sum(abs(weight) for _, weight in rule.controller.weights)
    low, high = range_of(rule.controller, box)
    if rule.squash == "clip" and (low >= rule.action.high or high <= rule.action.low):
        return 0.0
    if rule.squash == "tanh":
        nearest = min(max(0.0, low), high)  # tanh is steepest at 0
        slope = rule.action.half_range * (1.0 - math.tanh(nearest) ** 2)
        # not 0 where only the product underflows, nor NaN where only the sum overflows
        return max(steepest * slope, sys.float_info.min) if steepest and slope else 0.0
    return steepest


def saturation_limits(policy: Policy, position: int) -> tuple[float, float]:
    """Return the values from which on an action counts as saturated; infinite without squash."""
    action = policy.actions[position]
    if policy.squash == "tanh":
        nearly = NEARLY * action.half_range
        return action.centre - nearly, action.centre + nearly
    return (action.low, action.high) if policy.squash == "clip" else (-math.inf, math.inf)


def _saturation(policy: Policy, position: int, low: float, high: float) -> Saturation:
    bottom, top = saturation_limits(policy, position)
    if low >= top or high <= bottom:
        return "always"
    return "partly" if high >= top or low <= bottom else "never"


def _trends(
    policy: Policy, position: int, boxes: dict[int, Box], jumps: tuple[Jump, ...]
) -> list[tuple[str, Trend]]:
    """Return, for each feature that the policy looks at, how the action goes with it."""
    rises = [False] * len(policy.features)
    falls = [False] * len(policy.features)
    for leaf, box in boxes.items():
        rule = rule_of(policy, leaf, position).controller
        if _lipschitz(policy, leaf, position, box) > 0:
            for feature, weight in rule.weights:
                if box[feature].low < box[feature].high:
                    rises[feature] |= weight > 0
                    falls[feature] |= weight < 0
    for jump in jumps:
        split = policy.split(jump.split)
        if jump.action == policy.actions[position].name:
            rises[split.feature] |= jump.rise > ROUNDING
            falls[split.feature] |= jump.fall > ROUNDING
    words: dict[tuple[bool, bool], Trend] = {
        (True, True): "mixed", (True, False): "rises",
        (False, True): "falls", (False, False): "constant",
    }  # fmt: skip
    return [(policy.features[f].name, words[rises[f], falls[f]]) for f in policy.used_features]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
