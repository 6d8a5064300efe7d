"""A straight line near a squash over an interval: slope, offset, and how far it is off at most.

What a controller's value is turned into stays tied to the state that way: the slope carries the
tie, and only the bend of the squash becomes an error.
"""

import math

import numpy as np
from flint import arb

from icct.guarantee.elementary import hyperbolic_tangent
from icct.guarantee.rounding import EPS, TINY, Array, upward
from icct.policy import Action
from icct.policy.parts import Squash

Line = tuple[Array, Array, Array]  # slope, offset, error
NARROW = 1e-6


def squash_line(kind: Squash, action: Action, low: Array, high: Array) -> Line:
    """Return lines near what a policy makes of values from `low` to `high`."""
    if kind == "none":
        return np.ones_like(low), np.zeros_like(low), np.zeros_like(low)
    if kind == "clip":
        return _clip_line(low, high, action.low, action.high)
    slope, offset, error = _tanh_line(low, high)
    half = action.half_range
    scaled = action.centre + half * offset
    rounding = (abs(action.centre) + half * (np.abs(offset) + slope * np.maximum(-low, high))) * EPS
    return half * slope, scaled, upward(half * error + 4 * rounding)


def _tanh_line(low: Array, high: Array) -> Line:
    """Return lines near tanh: the chord, moved to the middle between its extremes."""
    first, last = hyperbolic_tangent(low, high)
    wide = high - low > NARROW
    middle = np.tanh(low / 2 + high / 2)
    slope = np.where(wide, (last - first) / np.where(wide, high - low, 1.0), 1 - middle * middle)
    slope = np.clip(slope, 0.0, 1.0)  # any slope will do: what it misses is in the error
    ends = (*hyperbolic_tangent(low, low), *hyperbolic_tangent(high, high))
    lowest, highest = _least_most(low, high, slope, ends)
    turn, top = _turn(slope), _top(slope)
    lowest = np.where(
        (low <= -turn + NARROW) & (high >= -turn - NARROW), np.minimum(lowest, -top), lowest
    )
    highest = np.where(
        (low <= turn + NARROW) & (high >= turn - NARROW), np.maximum(highest, top), highest
    )
    return _between(slope, lowest, highest)


def _least_most(
    low: Array, high: Array, slope: Array, ends: tuple[Array, Array, Array, Array]
) -> tuple[Array, Array]:
    """Return the least and the most of tanh(v) - slope v at the ends."""
    slack = (np.abs(slope * low) + np.abs(slope * high) + 2.0) * (2 * EPS)
    lowest = np.minimum(ends[0] - slope * low, ends[2] - slope * high) - slack
    highest = np.maximum(ends[1] - slope * low, ends[3] - slope * high) + slack
    return lowest, highest


def _turn(slope: Array) -> Array:
    """Return about where tanh has a slope."""
    inside = np.clip(slope, 1e-300, 1.0 - 2.0**-52)
    return np.arctanh(np.minimum(np.sqrt(1 - inside), 1.0 - 2.0**-53))


def _one_top(slope: float) -> float:
    if slope <= 0.0:
        return 1.0
    if slope >= 1.0:
        return 0.0
    height = (1 - arb(slope)).sqrt()
    most = height - arb(slope) * height.atanh()
    found = math.nextafter(float(most.upper()), math.inf)
    return min(found, 1.0) if math.isfinite(found) else 1.0


_each_top = np.frompyfunc(_one_top, 1, 1)


def _top(slope: Array) -> Array:
    """Return the most that tanh(v) - slope v is for positive v, rounded up."""
    found: Array = np.asarray(_each_top(slope), dtype=np.float64)
    return found


def _clip_line(low: Array, high: Array, least: float, most: float) -> Line:
    first, last = np.clip(low, least, most), np.clip(high, least, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(high > low, (last - first) / (high - low), 0.0)
    uncut = (low >= least) & (high <= most)
    slope = np.where(uncut, 1.0, slope)
    candidates = [(low, first), (high, last)]
    for corner in (least, most):
        if math.isfinite(corner):
            inside = np.clip(np.full_like(low, corner), low, high)  # an end, where it is outside
            candidates.append((inside, np.clip(inside, least, most)))
    gaps = [squashed - slope * value for value, squashed in candidates]
    size = [(np.abs(squashed) + np.abs(value)) * (4 * EPS) for value, squashed in candidates]
    lowest = np.min([gap - slack for gap, slack in zip(gaps, size, strict=True)], axis=0)
    highest = np.max([gap + slack for gap, slack in zip(gaps, size, strict=True)], axis=0)
    return _between(slope, np.where(uncut, 0.0, lowest), np.where(uncut, 0.0, highest))


def _between(slope: Array, lowest: Array, highest: Array) -> Line:
    offset = lowest / 2 + highest / 2
    error = np.maximum(highest - offset, offset - lowest) + np.abs(offset) * EPS
    return slope, offset, upward(error) + TINY
