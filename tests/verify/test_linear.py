"""The exact linear programs, against z3's optimiser and by hand."""

from fractions import Fraction

import numpy as np
import pytest
import z3

from icct.policy.region import Interval
from icct.verify.linear import Row, maximize


def draw(rng: np.random.Generator) -> Fraction:
    return Fraction(int(rng.integers(-3, 4)), int(rng.integers(1, 4)))


@pytest.mark.parametrize("seed", range(60))
def test_z3_finds_the_same_supremum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, count = int(rng.integers(1, 5)), int(rng.integers(0, 5))
    box = tuple(
        Interval(float(rng.integers(-3, 1)), float(rng.integers(1, 4)), bool(rng.integers(2)))
        for _ in range(features)
    )
    rows = [
        Row({f: draw(rng) for f in range(features)}, draw(rng), bool(rng.integers(2)))
        for _ in range(count)
    ]
    objective = {f: draw(rng) for f in range(features)}
    best = maximize(objective, rows, box)

    x = [z3.Real(f"x{f}") for f in range(features)]

    def total(weights: dict[int, Fraction]) -> z3.ArithRef:
        return z3.Sum([z3.Q(w.numerator, w.denominator) * x[f] for f, w in weights.items()])

    optimizer = z3.Optimize()
    for f, interval in enumerate(box):
        optimizer.add(x[f] > interval.low if interval.low_open else x[f] >= interval.low)
        optimizer.add(x[f] <= interval.high)
    for row in rows:
        left = total(row.weights) + z3.Q(row.constant.numerator, row.constant.denominator)
        optimizer.add(left < 0 if row.strict else left <= 0)
    handle = optimizer.maximize(total(objective))
    assert (optimizer.check() == z3.sat) == (best is not None)
    if best is None:
        return
    supremum = optimizer.upper_values(handle)[1]  # (infinity, real part, epsilon part)
    assert best.value == Fraction(str(supremum))
    for point in best.points():
        inside = zip(box, (point.get(f, None) for f in range(features)), strict=True)
        assert all(value is None or value in interval for interval, value in inside)
        for row in rows:
            left = row.constant + sum(w * point[f] for f, w in row.weights.items())
            assert left < 0 if row.strict else left <= 0


def test_without_bounds() -> None:
    line = (Interval(float("-inf"), float("inf")), Interval(float("-inf"), float("inf")))
    one = Fraction(1)
    assert maximize({0: one}, [], line).value is None  # type: ignore[union-attr]
    apart = [Row({0: one, 1: -one}, Fraction(-2))]  # x - y <= 2
    best = maximize({0: one, 1: -one}, apart, line)
    assert best is not None
    assert best.value == 2
    assert maximize({}, [*apart, Row({0: -one, 1: one}, Fraction(2), strict=True)], line) is None


def test_it_ends_where_many_rows_meet() -> None:
    # Beale's example, on which the simplex method goes round in circles without Bland's rule
    rows = [
        Row(
            {0: Fraction(1, 4), 1: Fraction(-60), 2: Fraction(-1, 25), 3: Fraction(9)}, Fraction(0)
        ),
        Row(
            {0: Fraction(1, 2), 1: Fraction(-90), 2: Fraction(-1, 50), 3: Fraction(3)}, Fraction(0)
        ),
        Row({2: Fraction(1)}, Fraction(-1)),
    ]
    objective = {0: Fraction(3, 4), 1: Fraction(-150), 2: Fraction(1, 50), 3: Fraction(-6)}
    best = maximize(objective, rows, (Interval(0.0, float("inf")),) * 4)
    assert best is not None
    assert best.value == Fraction(1, 20)
