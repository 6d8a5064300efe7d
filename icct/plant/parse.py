"""Text → Expression: a small recursive parser; its errors know the column. Nothing is evaluated.

sum    = term { ("+" | "-") term }              term = factor { ("*" | "/") factor }
factor = ("+" | "-") factor | power             power = atom [ "^" whole number ]
atom   = number | "pi" | name | function "(" sum { "," sum } ")" | "(" sum ")"
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from icct.errors import PlantError, did_you_mean
from icct.plant.expression import (
    FUNCTIONS,
    Call,
    Expression,
    Name,
    Negative,
    Number,
    Operation,
    Pi,
    Power,
)

LONGEST = 1000  # characters of one expression; x + x + ... is read into as many levels
DEEPEST = 50  # levels of brackets and signs
LARGEST_EXPONENT = 64
LONGEST_NUMBER = 40  # characters
LARGEST_SCALE = 300  # powers of ten of a number: floats end at 308
RESERVED = (*FUNCTIONS, "pi", "time")  # names that nothing else can have
TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|[-+*/^(),])",
    re.ASCII,
)


class ExpressionError(PlantError):
    """An expression cannot be read; `column` counts from 1."""

    def __init__(self, text: str, column: int, what: str) -> None:
        start = max(0, column - 61)  # a long expression is cut to what surrounds the mark
        mark = " " * (column - 1 - start) + "^"
        super().__init__(f"column {column}: {what}\n  {text[start : start + 100]}\n  {mark}")
        self.column, self.what = column, what


@dataclass(frozen=True)
class Token:
    """One word of an expression."""

    kind: str  # number, name, sign or end
    text: str
    column: int


@dataclass(frozen=True)
class Parsed:
    """An expression, and the column at which each name first stands."""

    text: str
    expression: Expression
    columns: tuple[tuple[str, int], ...]


def parse_expression(text: str) -> Expression:
    """Return the expression that a text says.

    >>> parse_expression("-x^2")
    Negative(of=Power(base=Name(name='x'), exponent=2))
    """
    return parse(text).expression


def parse(text: str) -> Parsed:
    """Return the expression that a text says, with the places of its names."""
    if len(text) > LONGEST:
        raise ExpressionError(text, 1, f"{len(text):,} characters, expected at most {LONGEST:,}.")
    return _Parser(text).whole()


def tokens(text: str) -> list[Token]:
    """Return the words of an expression, with an end mark."""
    found, at = [], 0
    while at < len(text):
        if text[at] in " \t\n":
            at += 1
            continue
        match = TOKEN.match(text, at)
        if match is None:
            what = f"found {text[at]!r}, expected a number, a name, one of + - * / ^ or brackets."
            raise ExpressionError(text, at + 1, what)
        found.append(Token(str(match.lastgroup), match[0], at + 1))
        at = match.end()
    return [*found, Token("end", "the end", len(text) + 1)]


class _Parser:
    """Walks the tokens once; every method returns what it has read and stops behind it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.columns: dict[str, int] = {}

    def whole(self) -> Parsed:
        expression = self._sum()
        if self._token.kind != "end":
            self._fail("an operator or the end")
        return Parsed(self.text, expression, tuple(self.columns.items()))

    def _sum(self) -> Expression:
        total = self._term()
        while self._token.text in ("+", "-"):
            total = Operation(self._next().text, total, self._term())
        return total

    def _term(self) -> Expression:
        product = self._factor()
        while self._token.text in ("*", "/"):
            product = Operation(self._next().text, product, self._factor())
        return product

    def _factor(self) -> Expression:
        if self._token.text not in ("+", "-"):
            return self._power()
        self._deeper()
        sign = self._next().text
        inside = self._factor()
        self.depth -= 1
        return Negative(inside) if sign == "-" else inside

    def _power(self) -> Expression:
        base = self._atom()
        if self._token.text == "**":
            self._fail("'^' for a power")
        if self._token.text != "^":
            return base
        self._next()
        token = self._token
        if not token.text.isdigit() or int(token.text[:9]) > LARGEST_EXPONENT:
            self._fail(f"a whole power from 0 to {LARGEST_EXPONENT}, as in x^2")
        self._next()
        if self._token.text == "^":
            self._fail("brackets around a power of a power")
        return Power(base, int(token.text))

    def _atom(self) -> Expression:
        token = self._token
        if token.kind == "number":
            return self._number()
        if token.kind == "name":
            return self._named()
        if token.text != "(":
            self._fail("a number, a name or '('")
        self._deeper()
        self._next()
        inside = self._sum()
        self._expect(")")
        self.depth -= 1
        return inside

    def _named(self) -> Expression:
        token = self._next()
        if token.text == "pi":
            return Pi()
        called = self._token.text == "("
        if token.text not in FUNCTIONS:
            if called:
                guess = did_you_mean(token.text, FUNCTIONS)
                what = f"{token.text!r} is not a function: expected one of {', '.join(FUNCTIONS)}."
                raise ExpressionError(self.text, token.column, what + guess)
            self.columns.setdefault(token.text, token.column)
            return Name(token.text)
        self._deeper()
        self._expect("(")
        arguments = [self._sum()]
        for _ in range(FUNCTIONS[token.text] - 1):
            self._expect(",")
            arguments.append(self._sum())
        self._expect(")")
        self.depth -= 1
        return Call(token.text, tuple(arguments))

    def _number(self) -> Expression:
        token = self._token
        mantissa, _, exponent = token.text.lower().partition("e")
        if len(mantissa) > LONGEST_NUMBER or len(exponent) > 4:
            self._fail(f"a number of at most {LONGEST_NUMBER} digits")
        if abs(int(exponent or "0")) > LARGEST_SCALE:
            self._fail(f"a power of ten from -{LARGEST_SCALE} to {LARGEST_SCALE}")
        value = Fraction(token.text)
        if value > 10**LARGEST_SCALE:
            self._fail(f"a number up to 1e{LARGEST_SCALE}")
        self._next()
        return Number(value)

    # -- small steps --------------------------------------------------------------------------

    @property
    def _token(self) -> Token:
        return self.tokens[self.at]

    def _next(self) -> Token:
        token = self._token
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def _expect(self, text: str) -> None:
        if self._token.text != text:
            self._fail(repr(text))
        self._next()

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self._fail(f"at most {DEEPEST} levels of brackets and signs")

    def _fail(self, expected: str) -> NoReturn:
        found = self._token
        shown = found.text if found.kind == "end" else repr(found.text)
        raise ExpressionError(self.text, found.column, f"found {shown}, expected {expected}.")
