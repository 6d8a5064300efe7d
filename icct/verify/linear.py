"""Exact linear programming in fractions: the largest value of a sum over a box cut by rows.

The general simplex method with bounds on every variable, by Bland's rule, so that it always ends.
Strict inequalities are exact too: a number is a fraction plus a multiple of δ, an infinitesimal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from icct.policy.region import Box

Weights = Mapping[int, Fraction]  # feature → weight
ZERO, ONE = Fraction(0), Fraction(1)


class Near(NamedTuple):
    """`real` plus `tiny` times δ; tuples compare as these numbers do."""

    real: Fraction
    tiny: Fraction = ZERO

    def plus(self, other: "Near", factor: Fraction = ONE) -> "Near":
        """Return this number plus a multiple of another."""
        return Near(self.real + factor * other.real, self.tiny + factor * other.tiny)

    def over(self, divisor: Fraction) -> "Near":
        """Return this number divided by a fraction."""
        return Near(self.real / divisor, self.tiny / divisor)


@dataclass(frozen=True)
class Row:
    """Keeps `constant` plus the weighted sum of the features below 0, or at most 0."""

    weights: Weights
    constant: Fraction
    strict: bool = False


@dataclass(frozen=True)
class Best:
    """The supremum (None: there is none), and where it is, up to the choice of a small δ."""

    value: Fraction | None
    at: Mapping[int, Near]
    largest_delta: Fraction

    def points(self) -> Iterator[Mapping[int, Fraction]]:
        """Yield points that keep to the box and the rows, from well inside to near the supremum."""
        for power in (1, 4, 10, 20, 30, 40):
            delta = self.largest_delta / 2**power
            yield {feature: near.real + delta * near.tiny for feature, near in self.at.items()}
            if not any(near.tiny for near in self.at.values()):
                return


def maximize(objective: Weights, rows: Sequence[Row], box: Box) -> Best | None:
    """Return the supremum of a weighted sum over the box and the rows; None when they are empty.

    >>> from icct.policy.region import Interval
    >>> box = (Interval(0.0, 4.0), Interval(0.0, 4.0))
    >>> both = {0: Fraction(1), 1: Fraction(1)}
    >>> best = maximize({0: Fraction(1)}, [Row(both, Fraction(-3), strict=True)], box)
    >>> best.value, [float(point[0]) for point in best.points()][:2]
    (Fraction(3, 1), [2.5, 2.9375])
    """
    used = sorted({*objective, *(feature for row in rows for feature in row.weights)})
    if any(box[feature].is_empty for feature in used):
        return None
    tableau = _Tableau(used, rows, box)
    if not tableau.make_feasible():
        return None
    bounded = tableau.make_largest(objective)
    value = tableau.value(objective).real if bounded else None
    return Best(value, {feature: tableau.at[feature] for feature in used}, tableau.delta())


class _Tableau:
    """Basic variables as sums of the others; the rows' sums are variables below 0."""

    def __init__(self, used: Sequence[int], rows: Sequence[Row], box: Box) -> None:
        self.low: dict[int, Near | None] = {}
        self.high: dict[int, Near | None] = {}
        self.at: dict[int, Near] = {}
        for feature in used:
            interval = box[feature]
            self.low[feature] = _bound(interval.low, ONE if interval.low_open else ZERO)
            self.high[feature] = _bound(interval.high, ZERO)
            self.at[feature] = self.low[feature] or self.high[feature] or Near(ZERO)
        self.rows: dict[int, dict[int, Fraction]] = {}
        for number, row in enumerate(rows, start=1):
            self.rows[-number] = {f: w for f, w in row.weights.items() if w}
            self.low[-number] = None
            self.high[-number] = Near(-row.constant, -ONE if row.strict else ZERO)
            self.at[-number] = self.value(self.rows[-number])

    def value(self, weights: Weights) -> Near:
        total = Near(ZERO)
        for variable, weight in weights.items():
            total = total.plus(self.at[variable], weight)
        return total

    def make_feasible(self) -> bool:
        """Move until every variable is within its bounds; False when that cannot be."""
        while True:
            wrong = min((v for v in self.rows if self._room(v, 1) < 0 or self._room(v, -1) < 0),
                        default=None)  # fmt: skip
            if wrong is None:
                return True
            way = 1 if self._room(wrong, -1) < 0 else -1
            helpers = (v for v, w in self.rows[wrong].items() if self._can(v, way * w))
            entering = min(helpers, default=None)
            if entering is None:
                return False
            target = self.low[wrong] if way > 0 else self.high[wrong]
            assert target is not None  # the bound that was missed
            weight = self.rows[wrong][entering]
            self._move(entering, target.plus(self.at[wrong], -ONE).over(weight))
            self._pivot(wrong, entering)

    def make_largest(self, objective: Weights) -> bool:
        """Climb until nothing helps; False when the sum grows without end."""
        while True:
            gain: dict[int, Fraction] = {}
            for variable, weight in objective.items():
                for part, share in self.rows.get(variable, {variable: ONE}).items():
                    gain[part] = gain.get(part, ZERO) + weight * share
            entering = min((v for v, g in gain.items() if self._can(v, g)), default=None)
            if entering is None:
                return True
            way = 1 if gain[entering] > 0 else -1
            limits = [(self._steps(v, way * row[entering]), v)
                      for v, row in self.rows.items() if row.get(entering)]  # fmt: skip
            limits.append((self._steps(entering, Fraction(way)), entering))
            finite = [(step, v) for step, v in limits if step is not None]
            if not finite:
                return False
            step, leaving = min(finite)
            self._move(entering, Near(way * step.real, way * step.tiny))
            if leaving != entering:
                self._pivot(leaving, entering)

    def delta(self) -> Fraction:
        """Return the largest number, up to 1, that δ may stand for."""
        largest = ONE
        for variable, (real, tiny) in self.at.items():
            for bound, way in ((self.low[variable], -1), (self.high[variable], 1)):
                if bound is not None and way * (tiny - bound.tiny) > 0:
                    largest = min(largest, (bound.real - real) / (tiny - bound.tiny))
        return largest

    def _room(self, variable: int, way: int) -> int:
        """Return 1 when there is room up (way 1) or down, 0 at the bound, -1 beyond it."""
        bound = self.high[variable] if way > 0 else self.low[variable]
        if bound is None:
            return 1
        here = self.at[variable]
        return way * ((bound > here) - (bound < here))

    def _can(self, variable: int, way: Fraction) -> bool:
        return way != 0 and self._room(variable, 1 if way > 0 else -1) > 0

    def _steps(self, variable: int, speed: Fraction) -> Near | None:
        """Return how far one can go until the variable, moving at `speed`, meets its bound."""
        bound = self.high[variable] if speed > 0 else self.low[variable]
        return None if bound is None else bound.plus(self.at[variable], -ONE).over(speed)

    def _move(self, variable: int, step: Near) -> None:
        self.at[variable] = self.at[variable].plus(step)
        for basic, row in self.rows.items():
            if weight := row.get(variable):
                self.at[basic] = self.at[basic].plus(step, weight)

    def _pivot(self, leaving: int, entering: int) -> None:
        old = self.rows.pop(leaving)
        weight = old.pop(entering)
        new = {v: -w / weight for v, w in old.items()}
        new[leaving] = ONE / weight
        for row in self.rows.values():
            if share := row.pop(entering, ZERO):
                for variable, part in new.items():
                    row[variable] = row.get(variable, ZERO) + share * part
                    if not row[variable]:
                        del row[variable]
        self.rows[entering] = new


def _bound(end: float, tiny: Fraction) -> Near | None:
    return None if end in (float("inf"), float("-inf")) else Near(Fraction(end), tiny)
