"""Units of a plant: what is added, compared and integrated must be of one kind.

Numbers carry whatever units a published model left out, and so does anything without a unit: they
go with everything. So a slip is found wherever two named quantities meet, as `speed + heading`;
a reward may add what it likes.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

from icct.errors import PlantError
from icct.plant.expression import Call, Expression, Name, Negative, Operation, Power
from icct.plant.plant import Disturbance, Plant, State
from icct.policy import Action

Kind = dict[str, Fraction]  # base unit → power, none of them 0
SYMBOL = re.compile(r"([A-Za-z]+)(?:\^(-?\d+))?\Z")
SECOND: Kind = {"s": Fraction(1)}
PLAIN = ("rad", "degrees", "1")  # angles are ratios of lengths
COMPOSED = {
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
}


def kind_of(unit: str) -> Kind | None:
    """Return what a unit is made of; None where it says nothing, as an empty or scaled one.

    >>> kind_of("N m") == kind_of("kg m^2/s^2"), kind_of("rad"), kind_of("x 30 m/s")
    (True, {}, None)
    """
    above, *below = unit.split("/")
    found: Kind = {}
    for sign, words in ((1, above.split()), *((-1, part.split()) for part in below)):
        for word in words:
            match = SYMBOL.match(word) if word != "1" else None
            if match is None and word != "1":
                return None
            symbol, power = (match[1], int(match[2] or 1)) if match else ("1", 1)
            if symbol in PLAIN:
                continue
            for base, times in COMPOSED.get(symbol, {symbol: 1}).items():
                found[base] = found.get(base, Fraction(0)) + sign * power * times
    return None if not unit.strip() else {base: power for base, power in found.items() if power}


def text_of(kind: Kind) -> str:
    """Return a kind of quantity in words.

    >>> text_of(kind_of("N")), text_of({})
    ('kg m s^-2', 'a plain number')
    """
    words = [base if power == 1 else f"{base}^{power}" for base, power in sorted(kind.items())]
    return " ".join(words) or "a plain number"


def check_units(plant: Plant) -> None:
    """Refuse a plant that adds metres to radians, or whose rates have the wrong unit."""
    parts: tuple[State | Disturbance | Action, ...]
    parts = (*plant.states, *plant.disturbances, *plant.actions)
    kinds = {part.name: kind_of(part.unit) for part in parts}
    for state in plant.states:
        where = f"[states.{state.name}]: rate"
        rate, own = _kind(state.rate, kinds, where), kinds[state.name]
        if rate is not None and own is not None and rate != (due := _times(own, SECOND, -1)):
            raise PlantError(
                f"{where} is in {text_of(rate)}, expected {text_of(due)}: {state.name} is in "
                f"{state.unit}, and a rate is per second."
            )
    for seen in plant.observations:
        where = f"[observations.{seen.name}]: value"
        found, own = _kind(seen.value, kinds, where), kind_of(seen.unit)
        if found is not None and own is not None and found != own:
            raise PlantError(f"{where} is in {text_of(found)}, but its unit is {seen.unit}.")


def _kind(part: Expression, kinds: Mapping[str, Kind | None], where: str) -> Kind | None:
    match part:
        case Name(name):
            return kinds[name]
        case Negative(inside):
            return _kind(inside, kinds, where)
        case Power(base, exponent):
            found = _kind(base, kinds, where)
            return (
                None if found is None else {k: p * exponent for k, p in found.items() if exponent}
            )
        case Operation(sign, left, right):
            return _joined(sign, _kind(left, kinds, where), _kind(right, kinds, where), where)
        case Call(function, arguments):
            return _called(function, [_kind(one, kinds, where) for one in arguments], where)
    return None


def _joined(sign: str, left: Kind | None, right: Kind | None, where: str) -> Kind | None:
    if sign in "+-":
        if left is not None and right is not None and left != right:
            raise PlantError(
                f"{where} has {text_of(left)} {sign} {text_of(right)}, expected two of one kind."
            )
        return right if left is None else left
    if left is None or right is None:
        return None
    return _times(left, right, 1 if sign == "*" else -1)


def _called(function: str, inside: list[Kind | None], where: str) -> Kind | None:
    if function in ("min", "max"):
        return _joined("+", inside[0], inside[1], where)
    (found,) = inside
    if function == "abs" or found is None:
        return found
    if function == "sqrt":
        return {base: power / 2 for base, power in found.items()}
    if found:
        raise PlantError(
            f"{where} has {function}({text_of(found)}), expected a plain number there."
        )
    return {}


def _times(left: Kind, right: Kind, power: int) -> Kind:
    product = dict(left)
    for base, own in right.items():
        product[base] = product.get(base, Fraction(0)) + power * own
    return {base: total for base, total in product.items() if total}
