"""Expressions: what they mean over several kinds of numbers, and what is refused, where."""

import math
from fractions import Fraction

import numpy as np
import pytest

from icct.errors import PlantError
from icct.plant.arithmetic import ARRAYS, FLOATS
from icct.plant.expression import Arithmetic, compiled, evaluate, names, size
from icct.plant.parse import ExpressionError, parse_expression

X = {"x": 0.7, "y": -1.3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x^2", -(0.7**2)),
        ("2 - 3 - 4", -5.0),
        ("8 / 4 / 2", 1.0),
        ("2 + 3*x", 4.1),
        ("-(x - y)*2", -4.0),
        ("x^0 + x^3", 1 + 0.7**3),
        ("sin(x)*cos(y) + tan(x)", math.sin(0.7) * math.cos(-1.3) + math.tan(0.7)),
        ("exp(log(sqrt(x)))", math.sqrt(0.7)),
        ("tanh(x) + abs(y) + pi", math.tanh(0.7) + 1.3 + math.pi),
        ("min(x, y) - max(x, y)", -2.0),
        ("1.5e-1 + .5", 0.65),
        ("+x", 0.7),
    ],
)
def test_floats_and_arrays_agree_with_python(text: str, expected: float) -> None:
    expression = parse_expression(text)
    assert evaluate(expression, X, FLOATS) == pytest.approx(expected, rel=1e-15)
    columns = {name: np.array([value, 2 * value]) for name, value in X.items()}
    both = np.broadcast_to(evaluate(expression, columns, ARRAYS), (2,))
    assert both[0] == pytest.approx(expected, rel=1e-15)


def test_numbers_are_exact() -> None:
    exact = Arithmetic[Fraction](Fraction, Fraction(22, 7), pow, {})
    value = evaluate(parse_expression("0.1 + 0.2*x + pi*x^2"), {"x": Fraction(1, 3)}, exact)
    assert value == Fraction(1, 10) + Fraction(1, 15) + Fraction(22, 63)


def test_what_several_expressions_share_is_computed_once() -> None:
    calls = []

    def sine(value: float) -> float:
        calls.append(value)
        return math.sin(value)

    counted = Arithmetic[float](float, math.pi, pow, {"sin": sine})
    shared = parse_expression("sin(x)")
    assert compiled((shared, shared), counted)({"x": 1.0}) == [math.sin(1.0)] * 2
    assert calls == [1.0]


def test_names_and_size() -> None:
    expression = parse_expression("x*(y + sin(x))")
    assert names((expression,)) == {"x", "y"}
    assert size(expression) == (6, 4)


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("x + ", 5, "found the end, expected a number, a name or '('"),
        ("x +* y", 4, "found '*'"),
        ("x $ y", 3, "found '$'"),
        ("(x + y", 7, "expected ')'"),
        ("x y", 3, "expected an operator or the end"),
        ("x^y", 3, "expected a whole power"),
        ("x^1.5", 3, "expected a whole power"),
        ("x^65", 3, "expected a whole power"),
        ("x^2^2", 4, "brackets"),
        ("x**2", 2, "expected '^'"),
        ("sine(x)", 1, "Did you mean 'sin'?"),
        ("min(x)", 6, "expected ','"),
        ("sin x", 5, "expected '('"),
        ("1e9999", 1, "power of ten"),
        ("99e299", 1, "a number up to 1e300"),
        ("__import__('os')", 12, 'found "\'"'),
        ("x.real", 2, "found '.'"),
        ("", 1, "found the end"),
        ("(" * 60 + "x" + ")" * 60, 51, "levels"),
        ("x+" * 600 + "x", 1, "characters"),
    ],
)
def test_nonsense_is_refused_with_its_column(text: str, column: int, what: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text)
    assert caught.value.column == column
    assert what in str(caught.value)
    assert isinstance(caught.value, PlantError)
