"""Expressions of a plant as a tape: one elementary operation after another, on numbered places.

Made by evaluating the expressions over `Symbol`s, which record what is done to them. What is known
beforehand is computed exactly, as fractions; what occurs twice is recorded once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from icct.plant import Arithmetic, Expression, compiled

ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class Step:
    """One operation on earlier places; `constant` is its exact number, where it has one."""

    operation: str
    places: tuple[int, ...]
    constant: Fraction = ZERO


@dataclass
class Tape:
    """The operations after the inputs, and where each result ends up."""

    inputs: int
    steps: list[Step] = field(default_factory=list)
    results: tuple[int, ...] = ()
    _known: dict[Step, int] = field(default_factory=dict)

    def record(self, step: Step) -> "Symbol":
        """Return the symbol of an operation, the same one for the same operation."""
        if step not in self._known:
            self._known[step] = self.inputs + len(self.steps)
            self.steps.append(step)
        return Symbol(self, self._known[step])


@dataclass(frozen=True)
class Symbol:
    """A place on a tape, or an exact number; arithmetic on it is recorded."""

    tape: Tape
    place: int = -1  # -1: an exact number
    exact: Fraction = ZERO

    @property
    def is_exact(self) -> bool:
        """Whether it is a number that is known beforehand."""
        return self.place < 0

    def __add__(self, other: "Symbol") -> "Symbol":
        if self.is_exact and other.is_exact:
            return Symbol(self.tape, exact=self.exact + other.exact)
        if self.is_exact:
            return other + self
        if other.is_exact:
            return (
                self.tape.record(Step("shift", (self.place,), other.exact)) if other.exact else self
            )
        return self.tape.record(Step("add", tuple(sorted((self.place, other.place)))))

    def __neg__(self) -> "Symbol":
        return self._times(Fraction(-1))

    def __sub__(self, other: "Symbol") -> "Symbol":
        return self + (-other)

    def __mul__(self, other: "Symbol") -> "Symbol":
        if other.is_exact:
            return self._times(other.exact)
        if self.is_exact:
            return other._times(self.exact)
        return self.tape.record(Step("multiply", tuple(sorted((self.place, other.place)))))

    def __truediv__(self, other: "Symbol") -> "Symbol":
        if other.is_exact and other.exact:
            return self._times(1 / other.exact)
        return self.on_tape() * other.on_tape().call("reciprocal")

    def _times(self, factor: Fraction) -> "Symbol":
        if self.is_exact:
            return Symbol(self.tape, exact=self.exact * factor)
        if factor == ONE:
            return self
        if factor == ZERO and self.place < self.tape.inputs:  # else it may be undefined
            return Symbol(self.tape)
        return self.tape.record(Step("scale", (self.place,), factor))

    def on_tape(self) -> "Symbol":
        """Return a symbol with a place, for an exact number too."""
        return self.tape.record(Step("number", (), self.exact)) if self.is_exact else self

    def call(self, function: str, *others: "Symbol") -> "Symbol":
        """Return a function of it, and of others."""
        places = tuple(symbol.on_tape().place for symbol in (self, *others))
        return self.tape.record(Step(function, places))


def recorded(expressions: Sequence[Expression], names: Sequence[str]) -> Tape:
    """Return the tape of some expressions over named inputs."""
    tape = Tape(len(names))
    values: Mapping[str, Symbol] = {name: Symbol(tape, i) for i, name in enumerate(names)}
    found = compiled(expressions, _arithmetic(tape))(values)
    tape.results = tuple(symbol.on_tape().place for symbol in found)
    return tape


def _arithmetic(tape: Tape) -> Arithmetic[Symbol]:
    def power(base: Symbol, exponent: int) -> Symbol:
        if exponent == 0:
            return Symbol(tape, exact=ONE)
        half = power(base, exponent // 2)
        return half * half * base if exponent % 2 else half * half

    def tangent(angle: Symbol) -> Symbol:
        return angle.call("sin") / angle.call("cos")

    def arc_tangent(slope: Symbol) -> Symbol:
        square = slope * slope + Symbol(tape, exact=ONE)
        return slope.call("atan", square.on_tape().call("reciprocal"))

    functions = {name: _caller(name) for name in ("sin", "cos", "exp", "log", "sqrt", "tanh")}
    kinked = {name: _caller(name) for name in ("abs", "min", "max")}
    return Arithmetic(
        number=lambda exact: Symbol(tape, exact=exact),
        pi=tape.record(Step("pi", ())),
        power=power,
        functions={**functions, **kinked, "tan": tangent, "atan": arc_tangent},
    )


def _caller(name: str) -> Callable[..., Symbol]:
    def call(first: Symbol, *others: Symbol) -> Symbol:
        return first.call(name, *others)

    return call
