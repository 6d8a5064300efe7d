"""Walks over the floats of a box, along which what a rule computes never falls.

The features are moved one after the other. Halving finds, among the floats of each, two neighbours:
the last that falls short of something and the first that does not.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from icct.policy.parts import Controller
from icct.policy.region import Box, Interval, end_of, middle, near_zero
from icct.policy.rounding import LARGEST

MOST_ORDERS = 6  # of features that are tried
FEW = 200  # observations that are tried one by one
MAGNITUDE = 2**63 - 1  # the bits of a float but for its sign
Point = Mapping[int, float]  # the features of a rule


def walk(
    start: Point, goal: Point, order: Sequence[int], falls_short: Callable[[Point], bool]
) -> Iterator[tuple[Point, Point]]:
    """Yield neighbouring points, the first of which falls short and the second does not.

    Each feature goes as far as it still falls short before the next one is moved, so that the
    points come closer and closer. With one feature the pair is the only one there is.

    >>> pairs = walk({0: 0.0}, {0: 9.0}, [0], lambda point: 3 * point[0] < 1)
    >>> [(last[0], first[0]) for last, first in pairs]
    [(0.33333333333333326, 0.3333333333333333)]
    """
    here = dict(start)

    def falls_short_with(feature: int) -> Callable[[float], bool]:
        return lambda value: falls_short({**here, feature: value})

    if not falls_short(here):
        yield here, here
        return
    for feature in order:
        if falls_short({**here, feature: goal[feature]}):
            here[feature] = goal[feature]
            continue
        last, first = neighbours(here[feature], goal[feature], falls_short_with(feature))
        here[feature] = last
        yield dict(here), {**here, feature: first}


def neighbours(one: float, other: float, holds: Callable[[float], bool]) -> tuple[float, float]:
    """Return two floats next to each other between two, where something ceases to hold.

    >>> neighbours(1.0, 2.0, lambda x: x * x < 2)
    (1.414213562373095, 1.4142135623730951)
    """
    last, first = _rank(one), _rank(other)
    while abs(first - last) > 1:
        between = (last + first) // 2
        if holds(_ranked(between)):
            last = between
        else:
            first = between
    return _ranked(last), _ranked(first)


def courses(rule: Controller, box: Box, way: int) -> Iterator[tuple[Point, Point, tuple[int, ...]]]:
    """Yield walks up (way 1) or down a rule: from where, to where, which features in turn.

    Between opposite corners, each feature last in turn, those that do the most first; then along
    each feature alone, with the others near 0, where floats are densest.
    """
    start, goal = finite_corner(rule, box, -way), finite_corner(rule, box, way)
    falling = movable(rule, box)
    for one in falling[::-1][:MOST_ORDERS]:
        yield start, goal, (*(f for f in falling if f != one), one)
    plain = {f: near_zero(box[f]) for f in start}
    for one in falling[:MOST_ORDERS] if len(falling) > 1 else ():
        yield {**plain, one: start[one]}, {**plain, one: goal[one]}, (one,)


def movable(rule: Controller, box: Box) -> list[int]:
    """Return the features that change a rule over a box, those that do the most first."""
    low, high = finite_corner(rule, box, -1), finite_corner(rule, box, 1)
    span = {f: abs(w * high[f] - w * low[f]) for f, w in rule.weights if w and low[f] != high[f]}
    return sorted(span, key=lambda feature: -span[feature])


def finite_corner(rule: Controller, box: Box, way: int) -> dict[int, float]:
    """Return where a rule is largest (way 1) or smallest over the finite floats of a box."""
    return {
        f: min(max(end_of(box[f], way if weight > 0 else -way), -LARGEST), LARGEST)
        for f, weight in rule.weights
    }


def few_observations(box: Box, features: set[int]) -> list[tuple[float, ...]] | None:
    """Return every observation of a box, as far as some features go; None when they are many."""
    count = 1
    for feature in features:
        interval = box[feature]
        count *= _rank(interval.high) - _rank(end_of(interval, -1)) + 1
        if count > FEW:
            return None
    columns = [_floats(i) if f in features else [middle(i)] for f, i in enumerate(box)]
    return list(product(*columns))


def _floats(interval: Interval) -> list[float]:
    ranks = range(_rank(end_of(interval, -1)), _rank(interval.high) + 1)
    return [number for number in map(_ranked, ranks) if math.isfinite(number)]


def _rank(number: float) -> int:
    """Return the place of a float among all floats; 0 for 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & MAGNITUDE)


def _ranked(rank: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", abs(rank)))[0]
    return number if rank >= 0 else -number
