"""Numbers that people give: `3.9 m/s` or raw, and a warning where they are outside the bounds."""

import re
from typing import TYPE_CHECKING

from icct.policy.parts import Action, Feature
from icct.policy.quantity import DECIMAL, UNIT, exact_scale, physical_unit, raw_number, same_unit
from icct.policy.units import scales_of

if TYPE_CHECKING:
    from icct.policy.policy import Policy

NUMBER = re.compile(rf"[-+]?{DECIMAL}\Z")
WEIGHT = re.compile(rf"([-+]?{DECIMAL})\s*({UNIT})?\s+per\s+({UNIT})\Z")
QUANTITY = re.compile(rf"([-+]?{DECIMAL})\s*({UNIT})?\Z")


def read_quantity(text: str, part: Feature | Action) -> float:
    """Return the raw number that a text means for a feature or an action; ValueError if none.

    >>> speed = Feature("speed", "x 30 m/s", 0, 1)
    >>> [read_quantity(text, speed) for text in ("3.9 m/s", "3.9m/s", "0.13", "0.13 x 30 m/s")]
    [0.13, 0.13, 0.13, 0.13]
    """
    words, raw_unit = text.strip(), f" {part.unit}"
    if part.unit.startswith("x ") and words.endswith(raw_unit):  # `0.13 x 30 m/s`, as stored
        words = words.removesuffix(raw_unit)
    found = QUANTITY.match(words)
    if found is None:
        raise ValueError(f"{text!r}, expected a number{_with_unit_of(part)}")
    if found[2] is None:
        return float(found[1])
    scale, unit = exact_scale(part.unit)
    if not same_unit(found[2], unit):
        raise ValueError(
            f"{text!r}, but {part.name} {f'is in {unit}' if unit else 'has no unit'}: expected a "
            f"number{_with_unit_of(part)}"
        )
    return raw_number(found[1], scale)


def read_bias(text: str, policy: "Policy", position: int) -> float:
    """Return the raw constant that a text means in the rule of an action; ValueError if none."""
    if policy.squash != "tanh" or NUMBER.match(text.strip()):
        return read_quantity(text, policy.actions[position])
    raise ValueError(f"{text!r}, expected a number: what goes into a tanh has no unit")


def read_weight(text: str, policy: "Policy", position: int, feature: int) -> float:
    """Return the raw weight that a text means, such as `-10 m/s^2 per m/s`; ValueError if none.

    >>> from icct.zoo import zoo_policy
    >>> read_weight("-10 m/s^2 per m/s", zoo_policy("ring-cruiser"), 0, 21)
    -300.0
    """
    if NUMBER.match(text.strip()):
        return float(text)
    above = "" if policy.squash == "tanh" else policy.actions[position].physical_unit
    below, found = policy.features[feature].physical_unit, WEIGHT.match(text.strip())
    if found is None or not same_unit(found[2] or "", above) or not same_unit(found[3], below):
        units = f" with or without {above} per {below}".replace("  ", " ") if below else ""
        raise ValueError(f"{text!r}, expected a number{units}")
    return raw_number(found[1], scales_of(policy).weight(feature, position))


def unreachable(feature: Feature, threshold: float) -> str | None:
    """Return a warning for a threshold that one side of no observation in the bounds is on.

    >>> unreachable(Feature("speed", "x 30 m/s", 0, 1), 3.5)
    'nothing goes above speed = 3.5: its bounds are 0 to 1 (0 to 30 m/s). Did you mean 3.5 m/s?'
    """
    if feature.low <= threshold < feature.high:
        return None
    side = "above" if threshold >= feature.high else "below"
    return (
        f"nothing goes {side} {feature.name} = {threshold:g}: its bounds are "
        f"{bounds_text(feature)}.{likely_unit(feature, threshold)}"
    )


def outside(part: Feature | Action, raw: float) -> str | None:
    """Return a warning for a number outside the bounds, with the unit that was probably meant.

    >>> outside(Feature("speed", "x 30 m/s", 0, 1), 3.5)
    'speed = 3.5 is outside its bounds, 0 to 1 (0 to 30 m/s). Did you mean 3.5 m/s?'
    """
    if part.low <= raw <= part.high:
        return None
    return (
        f"{part.name} = {raw:g} is outside its bounds, {bounds_text(part)}.{likely_unit(part, raw)}"
    )


def bounds_text(part: Feature | Action) -> str:
    """Return the bounds, also in physical units where those are not the raw ones.

    >>> bounds_text(Feature("speed", "x 30 m/s", 0, 1)), bounds_text(Feature("gap", "m", 0, 9))
    ('0 to 1 (0 to 30 m/s)', '0 to 9 m')
    """
    scale, unit = physical_unit(part.unit)
    raw = f"{part.low:g} to {part.high:g}"
    if scale == 1.0:
        return f"{raw} {unit}".rstrip()
    physical = f"{part.low * scale:g} to {part.high * scale:g} {unit}".rstrip()
    return f"{raw} ({physical})"


def likely_unit(part: Feature | Action, raw: float) -> str:
    """Return ` Did you mean 3.5 m/s, …?` where that, and not the raw number, is in the bounds."""
    scale, unit = exact_scale(part.unit)
    meant = raw_number(raw, scale)
    if scale == 1 or not unit or part.low <= raw <= part.high or not part.low <= meant <= part.high:
        return ""
    return f" Did you mean {raw:g} {unit}?"


def _with_unit_of(part: Feature | Action) -> str:
    unit = exact_scale(part.unit)[1]
    return f", with or without {unit}" if unit else ""
