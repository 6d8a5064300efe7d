"""How far one linear rule can act above another over a box: the supremum, and where it is.

Both squashes rise, so the largest gap has the first rule as high and the second as low as the box
lets them be together. The pairs (first, second) fill a convex polygon, and the best of them lie on
its lower right edges. Along an edge a single feature moves: a search in one dimension.
"""

import heapq
import math
from dataclasses import dataclass
from itertools import pairwise

from icct.policy.parts import Action, Controller, Squash, squash
from icct.policy.region import Box, end_of, middle, range_of, rounding_of

SECOND_DERIVATIVE = 4 / (3 * math.sqrt(3))  # the largest of tanh
THIRD_DERIVATIVE = 2.0  # the largest of tanh
MOST_STEPS = 4000  # along an edge; what is undecided then is added to the bound
PRECISION = 1e-9  # relative, along an edge


@dataclass(frozen=True)
class Rule:
    """A linear rule with the squash that makes an action of it."""

    controller: Controller
    action: Action
    squash: Squash

    def act(self, value: float) -> float:
        """Return the action for a value of the linear rule."""
        return float(squash(value, self.action, self.squash))

    def at(self, point: list[float]) -> float:
        """Return the action at a point."""
        return self.act(self.controller.value(point))

    def range_over(self, box: Box) -> tuple[float, float]:
        """Return bounds on the action over a box, rounded outwards."""
        low, high = map(self.act, range_of(self.controller, box))
        slack = 4 * math.ulp(max(abs(low), abs(high))) if self.squash == "tanh" else 0.0
        return low - slack, high + slack


@dataclass(frozen=True)
class Gap:
    """The first rule acts above the second by at most `largest`, and about as far at `point`."""

    largest: float
    point: tuple[float, ...]  # infinite where the box is and the gap is largest there


def largest_gap(first: Rule, second: Rule, box: Box) -> Gap:
    """Return how far the first rule can act above the second over a box.

    >>> from icct.policy.region import Interval
    >>> push, box = Action("push", "N", -5, 5), (Interval(0.0, 10.0),)
    >>> steep = Rule(Controller(((0, 2.0),)), push, "clip")
    >>> flat = Rule(Controller(((0, 1.0),)), push, "clip")
    >>> gap = largest_gap(steep, flat, box)
    >>> round(gap.largest, 9), gap.point
    (2.5, (2.5,))
    """
    raises, lowers = dict(first.controller.weights), dict(second.controller.weights)
    linear = first.squash == second.squash == "none"
    point = [middle(interval) for interval in box]
    shared = []  # features that move both rules the same way
    for feature in sorted({*raises, *lowers}):
        up, down = raises.get(feature, 0.0), lowers.get(feature, 0.0)
        if up * down > 0 and not linear:
            shared.append(feature)
            point[feature] = end_of(box[feature], -1 if up > 0 else 1)
        elif up != down:
            point[feature] = end_of(box[feature], 1 if up > down else -1)
    by_range = first.range_over(box)[1] - second.range_over(box)[0]
    infinite = [f for f in shared if not math.isfinite(box[f].high - box[f].low)]
    if infinite or not all(map(math.isfinite, point)):
        return Gap(by_range, tuple(point))
    shared.sort(key=lambda feature: lowers[feature] / raises[feature])
    gap = _along_edges(first, second, box, point, shared)
    return Gap(min(gap.largest + _rounding(first, second, box), by_range), gap.point)


def _along_edges(first: Rule, second: Rule, box: Box, point: list[float], shared: list[int]) -> Gap:
    """Walk the polygon's lower right edges, from its lowest corner to its highest."""
    best = Gap(first.at(point) - second.at(point), tuple(point))
    for feature in shared:
        low, high = end_of(box[feature], -1), end_of(box[feature], 1)
        start = point[feature]
        point[feature] = 0.0
        edge = _Edge(
            first,
            second,
            (first.controller.value(point), dict(first.controller.weights)[feature]),
            (second.controller.value(point), dict(second.controller.weights)[feature]),
        )
        largest, x = edge.largest(low, high, best.largest)
        if largest > best.largest:
            best = Gap(largest, (*point[:feature], x, *point[feature + 1 :]))
        point[feature] = high if start == low else low
    return best


@dataclass(frozen=True)
class _Edge:
    """The gap as a function of one feature x, where each rule is constant + weight x."""

    first: Rule
    second: Rule
    first_line: tuple[float, float]
    second_line: tuple[float, float]

    def gap(self, x: float) -> float:
        (p, up), (q, down) = self.first_line, self.second_line
        return self.first.act(p + up * x) - self.second.act(q + down * x)

    def largest(self, low: float, high: float, floor: float) -> tuple[float, float]:
        """Return a bound on the gap for x from low to high, and the best x; sloppy below floor."""
        cuts = sorted({low, high, *(x for x in self._kinks() if low < x < high)})
        best, at = max((self.gap(x), x) for x in cuts)
        if "tanh" not in (self.first.squash, self.second.squash):
            return best, at  # linear between the kinks
        waiting = [(-self._bound(a, b), a, b) for a, b in pairwise(cuts)]
        heapq.heapify(waiting)
        for _ in range(MOST_STEPS):
            if not waiting or -waiting[0][0] <= max(best + PRECISION * abs(best), floor):
                break
            _, a, b = heapq.heappop(waiting)
            x = a + (b - a) / 2
            if not a < x < b:
                continue
            if (here := self.gap(x)) > best:
                best, at = here, x
            for part in ((a, x), (x, b)):
                heapq.heappush(waiting, (-self._bound(*part), *part))
        return max(best, -waiting[0][0] if waiting else best), at

    def _kinks(self) -> list[float]:
        """Return where a clipped rule meets its limits."""
        lines = ((self.first, self.first_line), (self.second, self.second_line))
        return [
            (end - constant) / weight
            for rule, (constant, weight) in lines
            if rule.squash == "clip"
            for end in (rule.action.low, rule.action.high)
        ]

    def _bound(self, a: float, b: float) -> float:
        """Return a bound on the gap between a and b: by the ranges, and by the curvature."""
        (p, up), (q, down) = self.first_line, self.second_line
        ends = [(p + up * x, q + down * x) for x in (a, b)]
        by_range = self.first.act(max(u for u, _ in ends)) - self.second.act(
            min(v for _, v in ends)
        )
        scales = [r.action.half_range * (r.squash == "tanh") for r in (self.first, self.second)]
        curve = SECOND_DERIVATIVE * (scales[0] * up**2 + scales[1] * down**2)
        if scales[0] == scales[1]:
            apart = max(abs(u - v) for u, v in ends)
            alike = SECOND_DERIVATIVE * abs(up**2 - down**2) + THIRD_DERIVATIVE * down**2 * apart
            curve = min(curve, scales[0] * alike)
        by_curve = max(self.gap(a), self.gap(b)) + curve * (b - a) ** 2 / 8
        return min(by_range, by_curve)


def _rounding(first: Rule, second: Rule, box: Box) -> float:
    """Return a bound on how far computed actions are from the exact ones, for both together."""
    total = 0.0
    for rule in (first, second):
        steepest = rule.action.half_range if rule.squash == "tanh" else 1.0
        total += steepest * rounding_of(rule.controller, box)
        if rule.squash == "tanh":
            total += 8 * math.ulp(max(abs(rule.action.low), abs(rule.action.high)))
    return total
