"""The two kinds of numbers that a simulation computes with: floats, and arrays of them."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.plant.expression import FUNCTIONS, KINKED, Arithmetic

Array = NDArray[np.float64]


def _float_power(base: float, exponent: int) -> float:
    return base**exponent


def _array_power(base: Array, exponent: int) -> Array:
    power: Array = base**exponent
    return power


def _array_number(exact: Fraction) -> Array:
    return np.float64(float(exact))  # type: ignore[return-value]  # a number is an array of no axes


_FLOAT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in FUNCTIONS if name not in KINKED},
    "abs": abs,
    "min": min,
    "max": max,
}
_ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name, np.arctan) for name in FUNCTIONS if name not in KINKED},
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
}

# Floats raise ArithmeticError or ValueError outside a function's domain; arrays become NaN there.
FLOATS = Arithmetic[float](float, math.pi, _float_power, _FLOAT_FUNCTIONS)
ARRAYS = Arithmetic[Array](
    _array_number, _array_number(Fraction(math.pi)), _array_power, _ARRAY_FUNCTIONS
)
