"""Numbers with units: `3.9 m/s` ↔ the raw number of a feature whose unit is `x 30 m/s`.

Exact: `3.9 m/s` is the float64 nearest to 3.9 / 30 in decimal arithmetic, which is `0.13` to the
last bit, and `physical_text` writes the shortest decimal that is read back as the same float64.
"""

import math
import re
from fractions import Fraction
from functools import cache

SMALLEST, LARGEST = 1e-12, 1e12  # a scale beyond is no unit that anybody reads
SCALED = re.compile(r"x ([0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]{1,2})?)(?: (.+))?\Z", re.IGNORECASE)
LETTERS = r"[A-Za-z°µΩ%]+(?:\^-?\d+|[²³])?"
UNIT = rf"{LETTERS}(?:[/*·]{LETTERS})*(?![\w(])"
DECIMAL = r"(?>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?)"  # never a part of one
MOST_DIGITS = 20  # 17 always tell a float64 apart


@cache
def exact_scale(unit: str) -> tuple[Fraction, str]:
    """Return what a raw number is multiplied by to be physical, and the unit that it then has.

    >>> exact_scale("x 230.4 m"), exact_scale("rad"), exact_scale("x lane 2")
    ((Fraction(1152, 5), 'm'), (Fraction(1, 1), 'rad'), (Fraction(1, 1), 'x lane 2'))
    """
    found = SCALED.match(unit)
    if found is None or not SMALLEST <= float(found[1]) <= LARGEST:
        return Fraction(1), unit
    return Fraction(found[1]), found[2] or ""


def physical_unit(unit: str) -> tuple[float, str]:
    """Return the same with the scale as a float.

    >>> physical_unit("x 30 m/s"), physical_unit("rad")
    ((30.0, 'm/s'), (1.0, 'rad'))
    """
    scale, name = exact_scale(unit)
    return float(scale), name


def raw_number(physical: str | float, scale: Fraction) -> float:
    """Return the float64 nearest to a decimal number divided by a scale.

    >>> raw_number("3.9", Fraction(30)), raw_number(23.04, Fraction("230.4"))
    (0.13, 0.1)
    """
    if not math.isfinite(float(physical)):
        return float(physical)
    try:
        return float(Fraction(str(physical)) / scale)
    except OverflowError:
        return math.copysign(math.inf, float(physical))


def physical_text(raw: float, scale: Fraction) -> str:
    """Return the shortest decimal number that `raw_number` makes this float64 of again.

    >>> physical_text(0.13, Fraction(30)), physical_text(0.1, Fraction(3))
    ('3.9', '0.3')
    """
    if not math.isfinite(raw):
        return str(raw)
    exact = Fraction(raw) * scale
    for digits in range(1, MOST_DIGITS):
        text = _shortest(exact, digits)
        if raw_number(text, scale) == raw:
            return text
    return repr(float(exact))  # too large or too small for a decimal that reads back


def same_unit(one: str, other: str) -> bool:
    """Return whether two units are written alike, but for raised digits and blanks."""
    return _plain(one) == _plain(other)


def _plain(unit: str) -> str:
    return unit.replace(" ", "").replace("²", "^2").replace("³", "^3").replace("·", "*")


def _shortest(value: Fraction, digits: int) -> str:
    """Return a number rounded to so many significant digits, as `repr` would write it."""
    if not value:
        return "0"
    exponent = _exponent(abs(value)) - digits + 1
    scaled = round(value / Fraction(10) ** exponent)
    if -4 <= exponent + digits - 1 < 16:
        return _plain_decimal(scaled, exponent)
    return f"{scaled}e{exponent}"


def _exponent(value: Fraction) -> int:
    """Return the power of ten of the first digit."""
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if value >= Fraction(10) ** guess else guess - 1


def _plain_decimal(scaled: int, exponent: int) -> str:
    if exponent >= 0:
        return str(scaled * 10**exponent)
    sign, digits = ("-" if scaled < 0 else ""), str(abs(scaled)).rjust(1 - exponent, "0")
    fraction = digits[exponent:].rstrip("0")
    return f"{sign}{digits[:exponent]}{'.' + fraction if fraction else ''}"
