"""Intervals cut by a comparison hold exactly the floats that satisfy it."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from icct.policy.region import Interval
from icct.verify.question import cut, float_below

finite = st.floats(allow_nan=False, allow_infinity=False)
weights = st.fractions(max_denominator=1000).filter(bool)


@given(near=finite, weight=weights, shift=st.fractions(-1, 1), strict=st.booleans())
def test_a_float_is_inside_when_the_comparison_holds(
    near: float, weight: Fraction, shift: Fraction, strict: bool
) -> None:
    # the edge is a float, or lies between two
    edge = (
        Fraction(near) + shift * Fraction(math.ulp(near)) if abs(near) < 1e300 else Fraction(near)
    )
    constant = -weight * edge
    inside = cut(Interval(-math.inf, math.inf), weight, constant, strict)
    for value in (near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf), 0.0):
        if math.isfinite(value):
            total = weight * Fraction(value) + constant
            assert (value in inside) == (total < 0 if strict else total <= 0)


@given(number=st.fractions())
def test_float_below(number: Fraction) -> None:
    floor, exact = float_below(number)
    assert Fraction(floor) <= number < Fraction(math.nextafter(floor, math.inf))
    assert exact == (Fraction(floor) == number)
