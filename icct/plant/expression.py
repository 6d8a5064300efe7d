"""An expression as a value: numbers, names, arithmetic and functions, over any kind of number.

Numbers are exact fractions, so that an interval can enclose them. `evaluate` and `compiled` are
generic: they need `+ - * /` and a negative of the values, and an `Arithmetic` for the rest.
Nothing here reads text or rounds.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

N = TypeVar("N")  # a kind of number: float, array, interval, Taylor series, ...

# function → how many numbers it takes
FUNCTIONS = {
    **dict.fromkeys(("sin", "cos", "tan", "atan", "tanh", "exp", "log", "sqrt", "abs"), 1),
    **dict.fromkeys(("min", "max"), 2),
}
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
KINKED = ("abs", "min", "max")  # not differentiable everywhere


@dataclass(frozen=True)
class Number:
    """An exact number, as it was written."""

    value: Fraction


@dataclass(frozen=True)
class Pi:
    """The circle's number."""


@dataclass(frozen=True)
class Name:
    """A state, an action, a disturbance, or whatever else has a value."""

    name: str


@dataclass(frozen=True)
class Operation:
    """`left` and `right` with one of `+ - * /` between them."""

    sign: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Negative:
    """Minus an expression."""

    of: "Expression"


@dataclass(frozen=True)
class Power:
    """An expression to a whole power of at least 0."""

    base: "Expression"
    exponent: int


@dataclass(frozen=True)
class Call:
    """One of `FUNCTIONS` of one or two expressions."""

    function: str
    arguments: tuple["Expression", ...]


Expression = Number | Pi | Name | Operation | Negative | Power | Call


@dataclass(frozen=True)
class Arithmetic(Generic[N]):
    """What a kind of number does beside `+ - * /`.

    `functions` needs only those of `FUNCTIONS` that the kind has; another one is a `KeyError`.
    """

    number: Callable[[Fraction], N]  # the number nearest to, or enclosing, an exact one
    pi: N
    power: Callable[[N, int], N]
    functions: Mapping[str, Callable[..., N]]


def evaluate(expression: Expression, values: Mapping[str, N], arithmetic: Arithmetic[N]) -> N:
    """Return the value of an expression, given the values of its names.

    >>> from icct.plant.arithmetic import FLOATS
    >>> from icct.plant.parse import parse_expression
    >>> evaluate(parse_expression("2*x^2 - 1/4"), {"x": 3.0}, FLOATS)
    17.75
    """
    return compiled((expression,), arithmetic)(values)[0]


def compiled(
    expressions: Sequence[Expression], arithmetic: Arithmetic[N]
) -> Callable[[Mapping[str, N]], list[N]]:
    """Return a function that evaluates some expressions, for calling it often.

    Exact numbers are converted once, here; a part that stands in several expressions, as what a
    `[let]` of a plant names does, is computed once in a call.
    """
    template: list[Any] = []  # one place for each part; constants stand in theirs already
    loads: list[tuple[int, str]] = []
    steps: list[tuple[int, Callable[..., N], int, int | None]] = []
    registers: dict[int | str, int] = {}  # by the identity of a part, or its name

    def register(part: Expression) -> int:
        key = part.name if isinstance(part, Name) else id(part)
        if key in registers:
            return registers[key]
        inside = tuple(register(one) for one in parts(part))
        registers[key] = place = len(template)
        template.append(None)
        match part:
            case Number(exact):
                template[place] = arithmetic.number(exact)
            case Pi():
                template[place] = arithmetic.pi
            case Name(name):
                loads.append((place, name))
            case _:
                right = inside[1] if len(inside) > 1 else None
                steps.append((place, _function(part, arithmetic), inside[0], right))
        return place

    results = [register(expression) for expression in expressions]

    def run(values: Mapping[str, N]) -> list[N]:
        held = template.copy()
        for place, name in loads:
            held[place] = values[name]
        for place, function, left, right in steps:
            held[place] = (
                function(held[left]) if right is None else function(held[left], held[right])
            )
        return [held[place] for place in results]

    return run


def _function(part: Expression, arithmetic: Arithmetic[N]) -> Callable[..., N]:
    """Return what makes the value of an operation, a power or a call of those of its parts."""
    match part:
        case Operation(sign, _, _):
            return OPERATORS[sign]
        case Power(_, exponent):
            return _to_the(exponent, arithmetic)
        case Call(function, _):
            return arithmetic.functions[function]
    return operator.neg


def _to_the(exponent: int, arithmetic: Arithmetic[N]) -> Callable[[N], N]:
    return lambda base: arithmetic.power(base, exponent)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return what an expression is directly made of."""
    match expression:
        case Operation(_, left, right):
            return (left, right)
        case Negative(inside) | Power(inside, _):
            return (inside,)
        case Call(_, arguments):
            return arguments
    return ()


def names(expressions: Iterable[Expression]) -> set[str]:
    """Return the names that occur in some expressions."""
    return {part.name for part in _all_parts(expressions) if isinstance(part, Name)}


def functions(expressions: Iterable[Expression]) -> set[str]:
    """Return the functions that occur in some expressions."""
    return {part.function for part in _all_parts(expressions) if isinstance(part, Call)}


def _all_parts(expressions: Iterable[Expression]) -> Iterable[Expression]:
    waiting, seen = list(expressions), set()
    while waiting:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            waiting += parts(part)
            yield part


def substituted(expression: Expression, meanings: Mapping[str, Expression]) -> Expression:
    """Return the expression with some of its names replaced by what they stand for."""
    match expression:
        case Name(name):
            return meanings.get(name, expression)
        case Operation(sign, left, right):
            return Operation(sign, substituted(left, meanings), substituted(right, meanings))
        case Negative(inside):
            return Negative(substituted(inside, meanings))
        case Power(base, exponent):
            return Power(substituted(base, meanings), exponent)
        case Call(function, arguments):
            return Call(function, tuple(substituted(one, meanings) for one in arguments))
    return expression


def size(expression: Expression) -> tuple[int, int]:
    """Return how many parts an expression has when written out, and in how many levels."""
    known: dict[int, tuple[int, int]] = {}

    def measured(part: Expression) -> tuple[int, int]:
        if id(part) not in known:
            inside = [measured(one) for one in parts(part)]
            total, deepest = sum(n for n, _ in inside), max((d for _, d in inside), default=0)
            known[id(part)] = (1 + total, 1 + deepest)
        return known[id(part)]

    return measured(expression)
