"""What a property is made of: linear expressions, comparisons, and / or of them, all exact.

Numbers are fractions, so nothing here rounds. `not` and `abs` are gone once a comparison is made:
negation turns the comparison round, `abs` becomes two comparisons.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from icct.errors import PropertyError

MOST_CASES = 1024  # of one property; each is one linear problem per leaf
ZERO = Fraction(0)


@dataclass(frozen=True)
class Expression:
    """`constant`, plus weight times name, plus weight times the absolute value of expressions."""

    weights: tuple[tuple[str, Fraction], ...] = ()  # by name, none of them 0
    constant: Fraction = ZERO
    absolutes: tuple[tuple[Fraction, "Expression"], ...] = ()

    def __add__(self, other: "Expression") -> "Expression":
        weights = dict(self.weights)
        for name, weight in other.weights:
            weights[name] = weights.get(name, ZERO) + weight
        kept = tuple((name, weights[name]) for name in sorted(weights) if weights[name])
        return Expression(kept, self.constant + other.constant, (*self.absolutes, *other.absolutes))

    def times(self, factor: Fraction) -> "Expression":
        """Return the expression multiplied by a number."""
        if not factor:
            return Expression()
        return Expression(
            tuple((name, weight * factor) for name, weight in self.weights),
            self.constant * factor,
            tuple((weight * factor, inside) for weight, inside in self.absolutes),
        )

    @property
    def is_number(self) -> bool:
        """Whether no name occurs in it."""
        return not self.weights and not self.absolutes

    @property
    def has_constant(self) -> bool:
        """Whether a number other than 0 is added to what has a name."""
        return bool(self.constant) or any(inside.has_constant for _, inside in self.absolutes)

    @property
    def abs_count(self) -> int:
        """The number of absolute values in it."""
        return sum(1 + inside.abs_count for _, inside in self.absolutes)

    @property
    def bits(self) -> int:
        """The most bits that one of its numbers takes, above or below the line."""
        weights = (weight for _, weight in self.weights)
        numbers = (self.constant, *weights, *(weight for weight, _ in self.absolutes))
        return max(max(n.numerator.bit_length(), n.denominator.bit_length()) for n in numbers)

    def value(self, values: Mapping[str, Fraction]) -> Fraction:
        """Return its value; there must be no `abs` left in it."""
        return self.constant + sum(weight * values[name] for name, weight in self.weights)


@dataclass(frozen=True)
class Comparison:
    """`expression < 0` when strict, else `expression <= 0`."""

    expression: Expression
    strict: bool


@dataclass(frozen=True)
class AllOf:
    """True when every part is."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class AnyOf:
    """True when some part is."""

    parts: tuple["Condition", ...]


Condition = Comparison | AllOf | AnyOf
Case = tuple[Comparison, ...]  # all of them hold


def below_zero(expression: Expression, strict: bool) -> Condition:
    """Return the condition `expression < 0` or `expression <= 0`, without absolute values.

    w |e| is the larger of w e and -w e when w is positive, so both must stay below; it is the
    smaller of the two when w is negative, so one is enough.
    """
    if not expression.absolutes:
        return Comparison(expression, strict)
    (weight, inside), *others = expression.absolutes
    rest = Expression(expression.weights, expression.constant, tuple(others))
    parts = tuple(below_zero(rest + inside.times(sign * weight), strict) for sign in (1, -1))
    return AllOf(parts) if weight > 0 else AnyOf(parts)


def negated(condition: Condition) -> Condition:
    """Return the condition that holds exactly when this one does not."""
    if isinstance(condition, Comparison):
        return Comparison(condition.expression.times(Fraction(-1)), not condition.strict)
    parts = tuple(negated(part) for part in condition.parts)
    return AnyOf(parts) if isinstance(condition, AllOf) else AllOf(parts)


def comparison_count(condition: Condition) -> int:
    """Return the number of comparisons in a condition."""
    if isinstance(condition, Comparison):
        return 1
    return sum(comparison_count(part) for part in condition.parts)


def cases(condition: Condition) -> tuple[Case, ...]:
    """Return the cases, one of which holds exactly when the condition does."""
    if isinstance(condition, Comparison):
        return ((condition,),)
    parts = [cases(part) for part in condition.parts]
    if isinstance(condition, AnyOf):
        found = tuple(case for part in parts for case in part)
    else:
        count = 1
        for part in parts:
            count *= len(part)
        if count > MOST_CASES:
            raise PropertyError(_too_many(count))
        found = tuple(sum(chosen, ()) for chosen in product(*parts))
    if len(found) > MOST_CASES:
        raise PropertyError(_too_many(len(found)))
    return found


def holds(condition: Condition, values: Mapping[str, Fraction]) -> bool:
    """Return whether the condition holds for the named values, exactly.

    >>> speed_below_2 = below_zero(Expression((("speed", Fraction(1)),), Fraction(-2)), True)
    >>> [holds(speed_below_2, {"speed": Fraction(speed)}) for speed in (1, 2)]
    [True, False]
    """
    if isinstance(condition, Comparison):
        value = condition.expression.value(values)
        return value < 0 if condition.strict else value <= 0
    quantifier = all if isinstance(condition, AllOf) else any
    return quantifier(holds(part, values) for part in condition.parts)


def names(condition: Condition) -> set[str]:
    """Return the features and actions that a condition speaks of."""
    if isinstance(condition, Comparison):
        return {name for name, _ in condition.expression.weights}
    return set().union(*(names(part) for part in condition.parts))


def _too_many(count: int) -> str:
    return (
        f"the property has {count} cases, expected at most {MOST_CASES}: ask it as several "
        "properties with fewer 'or' and 'abs'."
    )
