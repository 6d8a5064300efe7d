"""A property in physical units → the same with raw numbers: what is stored, and what is proved.

`speed_ego > 3.9 m/s` becomes `speed_ego > 0.13` where the unit of `speed_ego` is `x 30 m/s`. All
that is asked of a policy afterwards is the raw text, so that whoever doubts it can ask it by hand.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from icct.policy.given import likely_unit
from icct.policy.parts import Action, Feature
from icct.policy.policy import Policy
from icct.policy.quantity import exact_scale, physical_text, raw_number, same_unit
from icct.verify.condition import Comparison, Condition
from icct.verify.question import nearest_float
from icct.verify.tokens import Token, fail

Part = Feature | Action
Measured = tuple[Token, ...]  # the names and the quantities of one comparison


def in_raw_numbers(text: str, comparisons: tuple[Measured, ...], parts: Sequence[Part]) -> str:
    """Return a property's text with raw numbers in the place of quantities.

    Where the names of a comparison have one scale, a quantity becomes the nearest float64 to its
    quotient by it. Where they differ, as a length in tens of metres and one in metres, each name
    is multiplied by its scale.
    """
    pieces: dict[int, tuple[int, str]] = {}  # column → (column behind, what stands there instead)
    for tokens in comparisons:
        for token, instead in _replaced(text, tokens, {part.name: part for part in parts}):
            pieces[token.column] = token.end, instead
    raw, at = "", 1
    for column, (end, instead) in sorted(pieces.items()):
        raw += text[at - 1 : column - 1] + instead
        at = end
    return raw + text[at - 1 :]


def slips(policy: Policy, condition: Condition) -> tuple[str, ...]:
    """Return a warning for each limit outside the bounds that would be inside in another unit.

    >>> from icct.verify import Property
    >>> from icct.zoo import zoo_policy
    >>> slips(zoo_policy("ring-cruiser"), Property("speed_ego > 3.9").conclusion)
    ('speed_ego is compared with 3.9, beyond its bounds. Did you mean 3.9 m/s?',)
    """
    if not isinstance(condition, Comparison):
        found = (warning for part in condition.parts for warning in slips(policy, part))
        return tuple(dict.fromkeys(found))  # each once, in order
    if len(condition.expression.weights) != 1:
        return ()
    ((name, weight),) = condition.expression.weights
    limit = nearest_float(-condition.expression.constant / weight)
    guess = likely_unit(_part(policy, name), limit)
    return (f"{name} is compared with {limit:g}, beyond its bounds.{guess}",) if guess else ()


def margin_unit(policy: Policy, condition: Condition) -> str:
    """Return the unit of a margin: that of all names beside an action, where they have one.

    >>> from icct.verify import Property
    >>> from icct.zoo import zoo_policy
    >>> margin_unit(zoo_policy("pole-balancer"), Property("abs(force) <= 3").conclusion)
    'x 100 N'
    """
    units = set(_units_beside_actions(policy, condition))
    return units.pop() if len(units) == 1 else ""


def _units_beside_actions(policy: Policy, condition: Condition) -> Iterator[str]:
    if isinstance(condition, Comparison):
        parts = [_part(policy, name) for name, _ in condition.expression.weights]
        if any(isinstance(part, Action) for part in parts):
            yield from (part.unit for part in parts)
        return
    for part in condition.parts:
        yield from _units_beside_actions(policy, part)


def _replaced(text: str, tokens: Measured, known: Mapping[str, Part]) -> list[tuple[Token, str]]:
    names = [token for token in tokens if token.kind == "name"]
    quantities = [token for token in tokens if token.unit]
    if not names:
        fail(text, quantities[0].column, "expected a feature or an action to compare it with.")
    parts = [known[token.text] for token in names]
    for quantity in quantities:
        for part in parts:
            unit = part.physical_unit
            if not same_unit(quantity.unit, unit):
                own = f"is in {unit}" if unit else "has no unit"
                what = f"{quantity.text} {quantity.unit} is compared with {part.name}, which"
                fail(text, quantity.column, f"{what} {own}.")
    scales = {exact_scale(part.unit)[0] for part in parts}
    if len(scales) > 1:
        factors = [physical_text(1.0, exact_scale(part.unit)[0]) for part in parts]
        scaled = zip(names, factors, strict=True)
        return [
            *((name, f"({factor} * {name.text})") for name, factor in scaled),
            *((quantity, quantity.text) for quantity in quantities),
        ]
    (scale,) = scales
    raw = [(quantity, raw_number(quantity.text, scale)) for quantity in quantities]
    for quantity, value in raw:
        if not math.isfinite(value):
            fail(text, quantity.column, f"{quantity.text} is too large, expected a float64.")
    return [(quantity, repr(value)) for quantity, value in raw]


def _part(policy: Policy, name: str) -> Part:
    parts: tuple[Part, ...] = (*policy.features, *policy.actions)
    return next(part for part in parts if part.name == name)
