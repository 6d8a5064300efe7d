"""Enclosed numbers with their derivatives, for many boxes at once, and what can be done to them.

A `Jet` has midpoints and radii of shape (boxes, columns), or (coefficients, boxes, columns): column
0 is the value, the others are its derivatives with respect to the inputs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from icct.guarantee import elementary
from icct.guarantee.rounding import EPS, Array, low_high, mid_rad, upward

RANGES = {
    "sin": elementary.sine,
    "cos": elementary.cosine,
    "exp": elementary.exponential,
    "tanh": elementary.hyperbolic_tangent,
    "atan": elementary.arc_tangent,
    "log": elementary.logarithm,
    "sqrt": elementary.square_root,
    "reciprocal": elementary.reciprocal,
}


Index = int | slice | tuple[Any, ...]


@dataclass
class Jet:
    """Midpoints and radii; each number lies within its radius of its midpoint."""

    mid: Array
    rad: Array

    def __getitem__(self, which: Index) -> "Jet":
        return Jet(self.mid[which], self.rad[which])

    def __setitem__(self, which: int, jet: "Jet") -> None:
        self.mid[which], self.rad[which] = jet.mid, jet.rad

    def __neg__(self) -> "Jet":
        return Jet(-self.mid, self.rad)

    def __add__(self, other: "Jet") -> "Jet":
        mid = self.mid + other.mid
        return Jet(mid, upward(self.rad + other.rad + np.abs(mid) * EPS))

    def __sub__(self, other: "Jet") -> "Jet":
        return self + -other

    def __mul__(self, other: "Jet") -> "Jet":
        return sum_of_products(
            Jet(self.mid[None], self.rad[None]), Jet(other.mid[None], other.rad[None])
        )

    def scaled(self, factor: float, radius: float = 0.0) -> "Jet":
        """Return it times a number that is known to within a radius."""
        mid = self.mid * factor
        rad = self.rad * (abs(factor) + radius) + np.abs(self.mid) * radius
        return Jet(mid, upward(rad + np.abs(mid) * EPS))

    def shifted(self, number: float, radius: float = 0.0) -> "Jet":
        """Return it plus a number that is known to within a radius."""
        mid, rad = self.mid.copy(), self.rad.copy()
        mid[..., 0] += number
        rad[..., 0] = upward(rad[..., 0] + radius + np.abs(mid[..., 0]) * EPS)
        return Jet(mid, rad)


def sum_of_products(one: Jet, other: Jet) -> Jet:
    """Return the sum of the products of two rows of jets, by the product rule."""
    value, values = _first_column(one), _first_column(other)
    size, sizes = Jet(np.abs(one.mid), one.rad), Jet(np.abs(other.mid), other.rad)
    size_value, sizes_value = _first_column(size), _first_column(sizes)
    mid = (value.mid * other.mid + one.mid * values.mid).sum(0)
    rounding = (size_value.mid * sizes.mid + size.mid * sizes_value.mid).sum(0)
    rad = (
        size_value.mid * sizes.rad
        + size_value.rad * (sizes.mid + sizes.rad)
        + size.mid * sizes_value.rad
        + size.rad * (sizes_value.mid + sizes_value.rad)
    ).sum(0)
    rad = upward(rad + rounding * ((2 * len(one.mid) + 8) * EPS))
    mid[..., 0] /= 2  # the value's product was added twice
    rad[..., 0] /= 2
    return Jet(mid, rad)


def of_function(name: str, argument: Jet) -> Jet:
    """Return a smooth function of a jet of one coefficient, by the chain rule."""
    low, high = low_high(argument.mid[..., 0], argument.rad[..., 0])
    mid, rad = _ball(*RANGES[name](low, high))
    slope = _slope(name, low, high, Jet(mid[..., None], rad[..., None]))
    derivatives = _flat_product(slope, argument[..., 1:])
    return Jet(
        np.concatenate([mid[..., None], derivatives.mid], axis=-1),
        np.concatenate([rad[..., None], derivatives.rad], axis=-1),
    )


def kinked(name: str, one: Jet, other: Jet) -> tuple[Jet, Array]:
    """Return min or max of two jets of one coefficient, and which of them it is.

    1 where it is the first all over a box, 0 where it is the second, 0.5 where it is not decided:
    there the derivatives cover those of both.
    """
    if name == "min":
        found, which = kinked("max", -one, -other)
        return -found, which
    low, high = low_high(one.mid[..., 0], one.rad[..., 0])
    low_other, high_other = low_high(other.mid[..., 0], other.rad[..., 0])
    which = np.where(low >= high_other, 1.0, np.where(low_other >= high, 0.0, 0.5))
    low_all, high_all = low_high(one.mid, one.rad)
    low_all_other, high_all_other = low_high(other.mid, other.rad)
    mid, rad = mid_rad(np.minimum(low_all, low_all_other), np.maximum(high_all, high_all_other))
    mid[..., 0], rad[..., 0] = mid_rad(np.maximum(low, low_other), np.maximum(high, high_other))
    return chosen(which, one, other, Jet(mid, rad)), which


def chosen(which: Array, one: Jet, other: Jet, undecided: Jet) -> Jet:
    """Return the first jet where `which` is 1, the second where it is 0, else the third."""
    first, second = (which == 1.0)[..., None], (which == 0.0)[..., None]
    return Jet(
        np.where(first, one.mid, np.where(second, other.mid, undecided.mid)),
        np.where(first, one.rad, np.where(second, other.rad, undecided.rad)),
    )


def _first_column(jet: Jet) -> Jet:
    return Jet(jet.mid[..., :1], jet.rad[..., :1])


def _flat_product(factor: Jet, jet: Jet) -> Jet:
    """Return the product of numbers without derivatives."""
    mid = factor.mid * jet.mid
    rad = np.abs(factor.mid) * jet.rad + factor.rad * (np.abs(jet.mid) + jet.rad)
    return Jet(mid, upward(rad + np.abs(mid) * EPS))


def _ball(low: Array, high: Array) -> tuple[Array, Array]:
    finite = np.isfinite(low) & np.isfinite(high)
    mid, rad = mid_rad(np.where(finite, low, 0.0), np.where(finite, high, 0.0))
    return mid, np.where(finite, rad, np.inf)


def _slope(name: str, low: Array, high: Array, value: Jet) -> Jet:
    """Return the derivative of a function over intervals."""
    if name == "exp":
        return value
    if name in ("sin", "cos"):
        mid, rad = _ball(*RANGES["cos" if name == "sin" else "sin"](low, high))
        return Jet(mid[..., None] * (1.0 if name == "sin" else -1.0), rad[..., None])
    if name == "tanh":
        square = _flat_product(value, value)
        return Jet(1.0 - square.mid, upward(square.rad + 2 * EPS))
    if name == "reciprocal":
        return -_flat_product(value, value)
    if name == "sqrt":  # 1 / (2 sqrt)
        low, high = low_high(2 * value.mid[..., 0], 2 * value.rad[..., 0])
    elif name == "atan":  # 1 / (1 + square)
        least = np.maximum(np.maximum(low, -high), 0.0)
        most = np.maximum(-low, high)
        low, high = (1 + least * least) * (1 - 4 * EPS), (1 + most * most) * (1 + 4 * EPS)
    mid, rad = _ball(*RANGES["reciprocal"](low, high))
    return Jet(mid[..., None], rad[..., None])
