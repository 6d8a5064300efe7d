"""How far one linear rule can act above another over a box: the supremum, and where it is.

Both squashes rise, so the largest gap has the first rule as high and the second as low as the box
lets them be together. The pairs (first, second) fill a convex polygon, and the best of them lie on
its lower right edges. Along an edge a single feature moves, and the gap has few local maxima.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from icct.policy.parts import Action, Controller, Squash, squash
from icct.policy.region import Box, end_of, middle
from icct.policy.rounding import difference_above, range_of, rounding_of, tanh_slack

# How far the search along an edge can miss a maximum of tanh: a slope within 1e-15 of level passes
# for level, over at most the 40 units in which tanh is not yet 1.
SEARCH = 1e-13
# The search computes in float64 without overflow, and without underflow to speak of, where all
# numbers that it multiplies and divides are 0 or have these magnitudes.
TINY, HUGE, UNDERFLOW = 2.0**-300, 2.0**300, 2.0**-700


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
        values = range_of(self.controller, box)
        low, high = map(self.act, values)
        if self.squash != "tanh":
            return low, high
        slack = tanh_slack(self.action, *values)
        return max(low - slack, self.act(-math.inf)), min(high + slack, self.act(math.inf))

    def is_tame(self, box: Box) -> bool:
        """Return whether float64 neither overflows nor underflows when it looks for a gap."""
        weights = [(feature, abs(weight)) for feature, weight in self.controller.weights if weight]
        reach = [weight * max(abs(box[f].low), abs(box[f].high)) for f, weight in weights]
        half = [self.action.half_range] if self.squash == "tanh" and self.action.half_range else []
        ends = [end for end in (self.action.low, self.action.high) if math.isfinite(end)]
        factors = (*(weight for _, weight in weights), *half)
        return all(TINY <= factor <= HUGE for factor in factors) and all(
            abs(value) <= HUGE for value in (self.controller.bias, *reach, *ends)
        )


def gap_by_range(first: Rule, second: Rule, box: Box) -> float:
    """Return a bound on how far the first rule acts above the second, from their ranges alone."""
    return difference_above(first.range_over(box)[1], second.range_over(box)[0])


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
    raises, lowers = _weights(first), _weights(second)
    linear = first.squash == second.squash == "none"
    point = [middle(interval) for interval in box]
    shared = []  # features that move both rules the same way
    for feature in sorted({*raises, *lowers}):
        up, down = raises.get(feature, 0.0), lowers.get(feature, 0.0)
        if (up > 0 < down or up < 0 > down) and not linear:
            shared.append(feature)
            point[feature] = end_of(box[feature], -1 if up > 0 else 1)
        elif up != down:
            point[feature] = end_of(box[feature], 1 if up > down else -1)
    by_range = gap_by_range(first, second, box)
    if not (raises or lowers) or not (first.is_tame(box) and second.is_tame(box)):
        return Gap(by_range, tuple(point))
    shared.sort(key=lambda feature: lowers[feature] / raises[feature])
    gap = _along_edges(first, second, box, point, shared)
    return Gap(min(gap.largest + _rounding(first, second, box), by_range), gap.point)


def _weights(rule: Rule) -> dict[int, float]:
    return {feature: weight for feature, weight in rule.controller.weights if weight}


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
        largest, x = edge.largest(low, high)
        if largest > best.largest:
            best = Gap(largest, (*point[:feature], x, *point[feature + 1 :]))
        point[feature] = high if start == low else low
    return best


@dataclass(frozen=True)
class _Edge:
    """The gap as a function of one feature x; each line is (constant, weight), weights alike."""

    first: Rule
    second: Rule
    first_line: tuple[float, float]
    second_line: tuple[float, float]

    def gap(self, x: float) -> float:
        (p, up), (q, down) = self.first_line, self.second_line
        return self.first.act(p + up * x) - self.second.act(q + down * x)

    def largest(self, low: float, high: float) -> tuple[float, float]:
        """Return the largest gap for x from low to high, and where it is."""
        places = [low, high, *self._kinks(), *self._level_with_a_line()]
        if self.first.squash == self.second.squash == "tanh":
            places.append(self._top_of_two_tanh(low, high))
        return max((self.gap(x), x) for x in places if low <= x <= high)

    def _kinks(self) -> list[float]:
        """Return where a clipped rule meets its limits; between them it is linear."""
        lines = ((self.first, self.first_line), (self.second, self.second_line))
        return [
            (end - constant) / weight
            for rule, (constant, weight) in lines
            if rule.squash == "clip"
            for end in (rule.action.low, rule.action.high)
        ]

    def _level_with_a_line(self) -> list[float]:
        """Return where tanh on one side is as steep as the straight line on the other."""
        lines = [(self.first, self.first_line), (self.second, self.second_line)]
        bent = [pair for pair in lines if pair[0].squash == "tanh"]
        if len(bent) != 1:
            return []
        ((rule, (constant, weight)),) = bent
        ((_, (_, slope)),) = [pair for pair in lines if pair[0].squash != "tanh"]
        ratio = rule.action.half_range * weight / slope
        if ratio < 1:
            return []
        value = math.acosh(math.sqrt(ratio))  # 1 - tanh^2 is 1 / cosh^2
        return [(sign * value - constant) / weight for sign in (-1, 1)]

    def _top_of_two_tanh(self, low: float, high: float) -> float:
        """Return the one place between low and high where the gap may have a local maximum.

        Walking the way both rules rise, the gap rises where steepness(x) > 0. By Descartes' rule of
        signs for sums of four exponentials that is one interval, or all but one, whatever the
        constants; so steepness has one peak or one valley, found by halving, as is its zero.
        """
        (p, up), (q, down) = self.first_line, self.second_line
        scales = self.first.action.half_range * up, self.second.action.half_range * down
        if 0.0 in scales:
            return low
        way = 1.0 if up > 0 else -1.0
        start, stop = (low, high) if way > 0 else (high, low)

        def steepness(x: float) -> float:
            return _log_cosh(q + down * x) - _log_cosh(p + up * x) + offset

        def turns(x: float) -> float:  # the sign of steepness' slope, walking from start to stop
            return way * (down * math.tanh(q + down * x) - up * math.tanh(p + up * x))

        offset = math.log(scales[0] / scales[1]) / 2
        if abs(up) >= abs(down):  # a peak: the gap falls, rises up to the zero behind it, falls
            peak = _last_positive(turns, start, stop)
            return _last_positive(steepness, peak, stop) if steepness(peak) > 0 else start
        valley = _last_positive(lambda x: -turns(x), start, stop)
        return _last_positive(steepness, start, valley) if steepness(start) > 0 else start


def _last_positive(function: Callable[[float], float], start: float, stop: float) -> float:
    """Return where a function that is positive first and not later stops being positive."""
    if function(stop) > 0:
        return stop
    while (between := start + (stop - start) / 2) not in (start, stop):
        if function(between) > 0:
            start = between
        else:
            stop = between
    return start


def _log_cosh(value: float) -> float:
    return abs(value) + math.log1p(math.exp(-2 * abs(value))) - math.log(2)


def _rounding(first: Rule, second: Rule, box: Box) -> float:
    """Return a bound on how far computed actions are from the exact ones, for both together.

    Twice for either rule: once for act(), once for what the search computes; and as much again for
    where the search looks, which it computes too.
    """
    total = UNDERFLOW
    for rule in (first, second):
        steepest = rule.action.half_range if rule.squash == "tanh" else 1.0
        total += 4 * steepest * rounding_of(rule.controller, box)
        total += 2.0**-50 * max(map(abs, rule.range_over(box)))  # of the difference itself
        if rule.squash == "tanh":
            total += tanh_slack(rule.action) + SEARCH * rule.action.half_range
    return total
