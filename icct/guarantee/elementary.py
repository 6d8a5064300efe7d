"""Ranges of elementary functions over intervals, each end computed by Arb (python-flint).

Every function takes arrays of lower and upper ends and returns such arrays, rounded outward.
Outside a function's domain the range is infinite: what needs it ends as *unknown*.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from icct.errors import MissingExtraError
from icct.guarantee.rounding import Array

try:
    from flint import arb
except ImportError:
    raise MissingExtraError(
        "Guarantees need the arithmetic of python-flint. Install it with: "
        'pip install "icct[guarantee]"'
    ) from None

Range = tuple[Array, Array]
LARGEST_ANGLE = 1e6  # beyond it sin and cos are [-1, 1]
NEAR = 1e-6  # of a turn; an extreme this near to an interval counts as inside


def sine(low: Array, high: Array) -> Range:
    """Return the range of sin over intervals."""
    return _wave(low, high, math.pi / 2, _sin)


def cosine(low: Array, high: Array) -> Range:
    """Return the range of cos over intervals."""
    return _wave(low, high, 0.0, _cos)


def exponential(low: Array, high: Array) -> Range:
    """Return the range of exp over intervals."""
    return _rising(low, high, _exp)


def hyperbolic_tangent(low: Array, high: Array) -> Range:
    """Return the range of tanh over intervals."""
    return _rising(low, high, _tanh)


def arc_tangent(low: Array, high: Array) -> Range:
    """Return the range of atan over intervals."""
    return _rising(low, high, _atan)


def logarithm(low: Array, high: Array) -> Range:
    """Return the range of log over intervals of positive numbers."""
    return _rising(low, high, _log, low > 0)


def square_root(low: Array, high: Array) -> Range:
    """Return the range of the square root over intervals of positive numbers."""
    return _rising(low, high, _sqrt, low > 0)


def reciprocal(low: Array, high: Array) -> Range:
    """Return the range of 1/x over intervals that leave out 0."""
    fine = (low > 0) | (high < 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, last = np.nextafter(1 / high, -np.inf), np.nextafter(1 / low, np.inf)
    return np.where(fine, first, -np.inf), np.where(fine, last, np.inf)


def _end(function: Callable[[arb], arb], way: float) -> Callable[[Array], Array]:
    def one(value: float) -> float:
        ball = function(arb(value))
        end = float(ball.upper() if way > 0 else ball.lower())  # rounded to the nearest float
        return math.nextafter(end, way * math.inf)

    each = np.frompyfunc(one, 1, 1)

    def every(values: Array) -> Array:
        found: Array = np.asarray(each(values), dtype=np.float64)
        return found

    return every


Ends = tuple[Callable[[Array], Array], Callable[[Array], Array]]


def _ends(function: Callable[[arb], arb]) -> Ends:
    return _end(function, -1.0), _end(function, 1.0)


_sin, _cos = _ends(arb.sin), _ends(arb.cos)
_exp, _tanh, _log, _sqrt = _ends(arb.exp), _ends(arb.tanh), _ends(arb.log), _ends(arb.sqrt)
_atan = _ends(arb.atan)


def _rising(low: Array, high: Array, ends: Ends, fine: NDArray[np.bool_] | None = None) -> Range:
    if fine is None:
        fine = np.isfinite(low) & np.isfinite(high)
    first = ends[0](np.where(fine, low, 1.0))
    last = ends[1](np.where(fine, high, 1.0))
    return np.where(fine, first, -np.inf), np.where(fine, last, np.inf)


def _wave(low: Array, high: Array, top: float, ends: Ends) -> Range:
    """Return the range of a wave that is 1 at `top` and -1 half a turn later."""
    fine = (np.abs(low) < LARGEST_ANGLE) & (np.abs(high) < LARGEST_ANGLE)
    low, high = np.where(fine, low, 0.0), np.where(fine, high, 0.0)
    first = np.minimum(ends[0](low), ends[0](high))
    last = np.maximum(ends[1](low), ends[1](high))
    first = np.where(fine & ~_passes(low, high, top + math.pi), np.maximum(first, -1.0), -1.0)
    last = np.where(fine & ~_passes(low, high, top), np.minimum(last, 1.0), 1.0)
    return first, last


def _passes(low: Array, high: Array, place: float) -> NDArray[np.bool_]:
    """Return whether an interval may hold `place` plus a whole number of turns."""
    turn = 2 * math.pi
    inside: NDArray[np.bool_] = (
        np.floor((high - place) / turn + NEAR) >= (low - place) / turn - NEAR
    )
    return inside
