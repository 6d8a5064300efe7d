"""Walks over the floats of a box, along which what a rule computes never falls.

The features are moved one after the other. Halving finds, among the floats of each, two neighbours:
the last that falls short of something and the first that does not.
"""

import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from icct.policy.parts import Controller
from icct.policy.region import Box, end_of

MOST_ORDERS = 6  # in which the features are moved
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
    if not falls_short(here):
        yield here, here
        return
    for feature in order:
        if falls_short({**here, feature: goal[feature]}):
            here[feature] = goal[feature]
            continue
        last, first = _rank(here[feature]), _rank(goal[feature])
        while abs(first - last) > 1:
            between = (last + first) // 2
            if falls_short({**here, feature: _ranked(between)}):
                last = between
            else:
                first = between
        here[feature] = _ranked(last)
        yield dict(here), {**here, feature: _ranked(first)}


def finite_corner(rule: Controller, box: Box, way: int) -> dict[int, float]:
    """Return where a rule is largest (way 1) or smallest over the finite floats of a box."""
    most = sys.float_info.max
    return {
        f: min(max(end_of(box[f], way if weight > 0 else -way), -most), most)
        for f, weight in rule.weights
    }


def orders(rule: Controller, box: Box) -> list[tuple[int, ...]]:
    """Return orders for a walk: those that do the most first, and each of them last in turn."""
    low, high = finite_corner(rule, box, -1), finite_corner(rule, box, 1)
    span = {f: abs(w * high[f] - w * low[f]) for f, w in rule.weights if w and low[f] != high[f]}
    falling = sorted(span, key=lambda feature: -span[feature])
    last = [(*(f for f in falling if f != one), one) for one in reversed(falling)]
    return last[:MOST_ORDERS] or [()]


def _rank(number: float) -> int:
    """Return the place of a float among all floats; 0 for 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & MAGNITUDE)


def _ranked(rank: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", abs(rank)))[0]
    return number if rank >= 0 else -number
