"""Text → Condition: a small recursive parser; its errors point at the column. Nothing is evaluated.

property   = [ "when" condition "then" ] condition
condition  = conjunct { "or" conjunct }          conjunct = negation { "and" negation }
negation   = "not" negation | comparison         comparison = sum { relation sum }
relation   = "<" | "<=" | ">" | ">=" | "=" | "!="
sum        = term { ("+" | "-") term }           term = factor { ("*" | "/") factor }
factor     = number [unit] | name | "abs" "(" sum ")" | "(" condition or sum ")" | "-" factor
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from icct.errors import PropertyError
from icct.verify.condition import (
    AllOf,
    AnyOf,
    Condition,
    Expression,
    below_zero,
    comparison_count,
    negated,
)
from icct.verify.physical import Measured
from icct.verify.tokens import Token, fail, tokens

LONGEST = 2000  # characters of one property
DEEPEST = 50  # levels of brackets, signs and nots
MOST_ABS = 10  # each doubles the number of comparisons
MOST_COMPARISONS = 4 * 2**MOST_ABS
MOST_BITS = 10_000  # of a number; a float64 has up to 1,074
RELATIONS = ("<", "<=", ">", ">=", "=", "==", "!=")


@dataclass(frozen=True)
class Parsed:
    """A property's two conditions, and the column at which each name first stands.

    `comparisons` counts what reading it has made: two for each `abs`, new ones for each `not`.
    `measured` has the words of those with units; before they are decided, `in_raw_numbers` turns
    them into raw ones.
    """

    premise: Condition | None
    conclusion: Condition
    comparisons: int
    columns: tuple[tuple[str, int], ...]
    measured: tuple[Measured, ...]


def parse(text: str) -> Parsed:
    """Return what a property's text says."""
    if len(text) > LONGEST:
        raise PropertyError(
            f"the property has {len(text):,} characters, expected at most {LONGEST:,}."
        )
    if not text.isprintable():
        raise PropertyError(f"the property is {text[:40]!r}, expected one line of plain text.")
    return _Parser(text).whole()


class _Parser:
    """Walks the tokens once; every method returns what it has read and stops behind it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.comparisons = 0
        self.columns: dict[str, int] = {}
        self.measured: list[Measured] = []

    def whole(self) -> Parsed:
        premise = None
        if self._accept("when"):
            premise = self._as_condition(self._or(), 1)
            self._expect("then")
        column = self._token.column
        conclusion = self._as_condition(self._or(), column)
        if self._token.kind != "end":
            self._fail(f"found {self._token.text!r} after the end of the property.")
        return Parsed(
            premise,
            conclusion,
            self.comparisons,
            tuple(self.columns.items()),
            tuple(self.measured),
        )

    def _or(self) -> Condition | Expression:
        return self._joined("or", AnyOf, self._and)

    def _and(self) -> Condition | Expression:
        return self._joined("and", AllOf, self._not)

    def _joined(
        self, word: str, kind: type[AllOf | AnyOf], read: Callable[[], Condition | Expression]
    ) -> Condition | Expression:
        column, first = self._token.column, read()
        if self._token.text != word:
            return first
        parts = [self._as_condition(first, column)]
        while self._accept(word):
            column = self._token.column
            parts.append(self._as_condition(read(), column))
        return kind(tuple(parts))

    def _not(self) -> Condition | Expression:
        if not self._accept("not"):
            return self._comparison()
        self._deeper()
        column = self._token.column
        inside = self._as_condition(self._not(), column)
        self._count(comparison_count(inside))
        self.depth -= 1
        return negated(inside)

    def _comparison(self) -> Condition | Expression:
        start, column, first = self.at, self._token.column, self._sum()
        sides, relations = [(column, first)], []
        while self._token.text in RELATIONS:
            relations.append(self._next().text)
            column = self._token.column
            sides.append((column, self._sum()))
        if not relations:
            return first
        numbers = [self._as_expression(side, column) for column, side in sides]
        self._measure(start, sides[0][0], numbers)
        parts = []
        for (left, right), relation in zip(pairwise(numbers), relations, strict=True):
            self._count(2 ** (left.abs_count + right.abs_count))
            parts.append(_compared(left, relation, right))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _measure(self, start: int, column: int, sides: list[Expression]) -> None:
        """Keep the words of a comparison with units, in which every number must have one."""
        words = tuple(token for token in self.tokens[start : self.at] if token.unit)
        if not words:
            return
        if any(side.has_constant for side in sides):
            fail(
                self.text,
                column,
                f"{words[0].text} {words[0].unit} stands beside a number without a unit; in one "
                "comparison all numbers have one, but for factors and 0.",
            )
        named = (token for token in self.tokens[start : self.at] if token.kind == "name")
        self.measured.append((*words, *named))

    def _sum(self) -> Condition | Expression:
        column, total = self._token.column, self._term()
        while self._token.text in ("+", "-"):
            sign = Fraction(1 if self._next().text == "+" else -1)
            left = self._as_expression(total, column)
            column = self._token.column
            total = left + self._as_expression(self._term(), column).times(sign)
        return total

    def _term(self) -> Condition | Expression:
        column, product = self._token.column, self._factor()
        while self._token.text in ("*", "/"):
            operator = self._next()
            left, here = self._as_expression(product, column), self._token.column
            right = self._as_expression(self._factor(), here)
            if operator.text == "/" and not (right.is_number and right.constant):
                fail(self.text, here, "expected a number other than 0 to divide by.")
            if operator.text == "/":
                product = left.times(1 / right.constant)
            elif right.is_number:
                product = left.times(right.constant)
            elif left.is_number:
                product = right.times(left.constant)
            else:
                fail(
                    self.text,
                    operator.column,
                    "a product of two names is not linear; multiply by numbers only.",
                )
            if product.bits > MOST_BITS:
                fail(self.text, here, "the product has a number with thousands of digits.")
        return product

    def _factor(self) -> Condition | Expression:
        token = self._next()
        if token.kind == "number":
            number = self._number(token)
            if token.unit and number:
                return Expression(((f"1 {token.unit}", Fraction(token.text)),))
            return Expression(constant=number)
        if token.kind == "name":
            self.columns.setdefault(token.text, token.column)
            return Expression(((token.text, Fraction(1)),))
        if token.text not in ("(", "-", "+", "abs"):
            what = f"found {token.text!r}, expected a name, a number or '('."
            fail(self.text, token.column, what)
        self._deeper()
        if token.text in ("-", "+"):
            column = self._token.column
            sign = Fraction(-1 if token.text == "-" else 1)
            read: Condition | Expression = self._as_expression(self._factor(), column).times(sign)
        elif token.text == "abs":
            if sum(other.text == "abs" for other in self.tokens) > MOST_ABS:
                fail(self.text, token.column, f"more than {MOST_ABS} absolute values.")
            self._expect("(")
            column = self._token.column
            inside = self._as_expression(self._sum(), column)
            read = Expression(absolutes=((Fraction(1), inside),))
            self._expect(")")
        else:
            read = self._or()
            self._expect(")")
        self.depth -= 1
        return read

    # -- small steps --------------------------------------------------------------------------

    @property
    def _token(self) -> Token:
        return self.tokens[self.at]

    def _next(self) -> Token:
        token = self._token
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def _accept(self, text: str) -> bool:
        if self._token.kind == "end" or self._token.text != text:
            return False
        self.at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self._fail(f"found {self._token.text!r}, expected {text!r}.")

    def _fail(self, what: str) -> NoReturn:
        fail(self.text, self._token.column, what)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self._fail(f"more than {DEEPEST} levels of brackets, signs and nots.")

    def _count(self, comparisons: int) -> None:
        self.comparisons += comparisons
        if self.comparisons > MOST_COMPARISONS:
            self._fail(
                f"more than {MOST_COMPARISONS:,} comparisons, of which each 'abs' makes two and "
                "each 'not' new ones: ask it as several properties."
            )

    def _number(self, token: Token) -> Fraction:
        value = float(token.text)  # the float64 that act() would compare with
        if not math.isfinite(value):
            fail(self.text, token.column, f"{token.text} is too large, expected a float64.")
        return Fraction(value)

    def _as_condition(self, read: Condition | Expression, column: int) -> Condition:
        if isinstance(read, Expression):
            fail(self.text, column, "expected a comparison such as 'speed <= 2', found a number.")
        return read

    def _as_expression(self, read: Condition | Expression, column: int) -> Expression:
        if not isinstance(read, Expression):
            fail(self.text, column, "expected a number, found a comparison.")
        return read


def _compared(left: Expression, relation: str, right: Expression) -> Condition:
    minus = Fraction(-1)
    less, greater = left + right.times(minus), right + left.times(minus)
    if relation in ("<", "<="):
        return below_zero(less, strict=relation == "<")
    if relation in (">", ">="):
        return below_zero(greater, strict=relation == ">")
    equal = AllOf((below_zero(less, strict=False), below_zero(greater, strict=False)))
    return negated(equal) if relation == "!=" else equal
