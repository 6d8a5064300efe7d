"""Numbers with units: what is written reads back as the same float64; slips get a warning."""

import math
from fractions import Fraction

import numpy as np
import pytest

from icct.policy import Action, Feature
from icct.policy.given import likely_unit, outside, read_quantity, read_weight, unreachable
from icct.policy.quantity import exact_scale, physical_text, raw_number
from icct.zoo import zoo_policy

SPEED = Feature("speed", "x 30 m/s", 0, 1)
SCALES = ("30", "230.4", "6.67", "0.001", "1e-05", "123456.789", "3")


@pytest.mark.parametrize("scale", SCALES)
def test_every_number_reads_back_as_itself(scale: str) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=400) * 10.0 ** rng.integers(-12, 12, 400)
    ends = [0.0, -0.0, 1.0, 5e-324, 2.2e-308, 1e300, 0.1, 1 / 3, math.nextafter(0.13, 1)]
    for raw in (*drawn.tolist(), *ends):
        text = physical_text(raw, Fraction(scale))
        assert raw_number(text, Fraction(scale)) == raw, (text, raw)
        assert len(text.strip("-").replace(".", "").partition("e")[0].lstrip("0")) <= 22


def test_text_is_as_short_as_what_was_typed() -> None:
    for text in ("3.9", "0.3", "12", "-7.25", "0.001"):
        assert physical_text(raw_number(text, Fraction(30)), Fraction(30)) == text


@pytest.mark.parametrize(
    ("unit", "scale", "name"),
    [
        ("x 30 m/s", 30, "m/s"),
        ("x 1e-05 m", Fraction("1e-05"), "m"),
        ("x 5", 5, ""),
        ("x 0 m", 1, "x 0 m"),
        ("x 1e99 m", 1, "x 1e99 m"),
        ("x lane 2", 1, "x lane 2"),
        ("0 or 1", 1, "0 or 1"),
    ],
)
def test_units(unit: str, scale: Fraction, name: str) -> None:
    assert exact_scale(unit) == (scale, name)
    assert Feature("f", unit).scale == float(scale)
    assert Action("a", unit).physical_unit == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("3.9 km/h", "speed is in m/s"),
        ("fast", "expected a number, with or without m/s"),
        ("3.9 m/s m", "expected a number"),
        ("", "expected a number"),
        ("nan", "expected a number"),
    ],
)
def test_other_units_are_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_quantity(text, SPEED)


def test_raised_digits_and_blanks_do_not_matter() -> None:
    assert read_quantity("-2 m/s²", Action("a", "x 2 m/s^2")) == -1.0
    assert read_quantity(" 1e1m/s ", SPEED) == 10 / 30


def test_weights() -> None:
    ring = zoo_policy("ring-cruiser")
    assert read_weight("-10 m/s^2 per m/s", ring, 0, 21) == read_weight("-300", ring, 0, 21)
    with pytest.raises(ValueError, match=r"with or without m/s\^2 per m/s"):
        read_weight("-10 m/s", ring, 0, 21)


def test_a_slip_is_named_only_where_it_explains_the_number() -> None:
    assert outside(SPEED, 0.5) is None
    assert outside(SPEED, 3.5).endswith("Did you mean 3.5 m/s?")
    assert outside(SPEED, 31.0).endswith("0 to 1 (0 to 30 m/s).")
    assert outside(Feature("gap", "m", 0, 9), 10).endswith("0 to 9 m.")
    assert likely_unit(SPEED, 0.5) == ""
    assert unreachable(SPEED, 0.0) is None
    assert "nothing goes above speed = 1" in unreachable(SPEED, 1.0)
    assert "nothing goes below speed = -0.5" in unreachable(SPEED, -0.5)
