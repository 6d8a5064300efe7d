"""A property's cases, with names looked up in a policy: what one leaf is asked.

A case is a box of observations, rows over several features, and conditions on the actions. The box
is exact for float64 observations; nothing is decided here.
"""

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from icct.errors import ObservationError
from icct.policy.policy import Policy
from icct.policy.region import Box, Interval, bounds, end_of
from icct.verify.condition import Case, Condition, cases
from icct.verify.linear import Row


@dataclass(frozen=True)
class ActionRow:
    """`constant` plus weighted features plus weighted actions is below 0, or at most 0."""

    features: Row
    actions: tuple[tuple[int, Fraction], ...]

    @cached_property
    def limit(self) -> tuple[int, int, Fraction] | None:
        """(action, way, c) when it says action > c (way 1) or action < c (way -1), or equal."""
        if self.features.weights or len(self.actions) > 1:
            return None
        ((action, weight),) = self.actions
        return action, 1 if weight < 0 else -1, -self.features.constant / weight


@dataclass(frozen=True)
class Question:
    """Is there an observation in `box` for which all rows hold?"""

    box: Box
    rows: tuple[Row, ...]  # each over two features or more
    action_rows: tuple[ActionRow, ...]

    def admits(self, observation: tuple[float, ...]) -> bool:
        """Return whether an observation is inside the box and makes the rows on features hold."""
        for value, interval in zip(observation, self.box, strict=True):
            if not math.isfinite(value) or value not in interval:
                return False
        return all(_holds(row, _total(row, observation)) for row in self.rows)

    def is_answered_by(self, policy: Policy, observation: tuple[float, ...]) -> bool:
        """Return whether the observation, through act(), makes everything hold; exact."""
        if not self.admits(observation):
            return False
        totals = self._totals(policy, observation)
        return totals is not None and all(
            _holds(row.features, total) for row, total in zip(self.action_rows, totals, strict=True)
        )

    def holds(self, policy: Policy, number: int, observation: tuple[float, ...]) -> bool:
        """Return whether an action row holds for an observation and what act() does there."""
        totals = self._totals(policy, observation)
        return totals is not None and _holds(self.action_rows[number].features, totals[number])

    def acts(self, policy: Policy, observation: tuple[float, ...]) -> bool:
        """Return whether act() does not refuse an observation because a rule overflows."""
        return self._totals(policy, observation) is not None

    def excess(self, policy: Policy, observation: tuple[float, ...]) -> float:
        """Return by how much the action rows hold, the least of them."""
        totals = self._totals(policy, observation)
        return nearest_float(-max(totals or [], default=Fraction(0)))

    def missed_by(self, policy: Policy, observation: tuple[float, ...]) -> float | None:
        """Return how far the action rows are from holding; None where no action comes into it."""
        totals = self._totals(policy, observation) if self.admits(observation) else None
        return float_below(max(totals))[0] if totals else None

    def _totals(self, policy: Policy, observation: tuple[float, ...]) -> list[Fraction] | None:
        """Return the left sides of the action rows; None where act() refuses to act."""
        try:
            acted = policy.act(observation).tolist()
        except ObservationError:  # a rule overflows there
            return None
        return [
            sum((w * Fraction(acted[i]) for i, w in row.actions), _total(row.features, observation))
            for row in self.action_rows
        ]


def _total(row: Row, observation: tuple[float, ...]) -> Fraction:
    weighted = (weight * Fraction(observation[f]) for f, weight in row.weights.items())
    return sum(weighted, row.constant)


def _holds(row: Row, total: Fraction) -> bool:
    return total < 0 if row.strict else total <= 0


def questions(policy: Policy, condition: Condition) -> list[Question]:
    """Return one question for each case of a condition that its bounds do not rule out."""
    asked = (_question(policy, case) for case in cases(condition))
    return [question for question in asked if question is not None]


def _question(policy: Policy, case: Case) -> Question | None:
    features = {feature.name: i for i, feature in enumerate(policy.features)}
    actions = {action.name: i for i, action in enumerate(policy.actions)}
    box = list(bounds(policy))
    rows, action_rows = [], []
    for comparison in case:
        weights = comparison.expression.weights
        row = Row(
            {features[name]: weight for name, weight in weights if name in features},
            comparison.expression.constant,
            comparison.strict,
        )
        acting = tuple((actions[name], weight) for name, weight in weights if name in actions)
        if acting:
            action_rows.append(ActionRow(row, acting))
        elif len(row.weights) > 1:
            rows.append(row)
        elif row.weights:
            ((feature, weight),) = row.weights.items()
            box[feature] = cut(box[feature], weight, row.constant, row.strict)
            if box[feature].is_empty or math.inf in (end_of(box[feature], -1), -box[feature].high):
                return None  # no number, or none that is finite
        elif not (row.constant < 0 or (row.constant == 0 and not row.strict)):
            return None
    return Question(tuple(box), tuple(rows), tuple(action_rows))


def cut(interval: Interval, weight: Fraction, constant: Fraction, strict: bool) -> Interval:
    """Return the floats of an interval with weight times x plus constant below, or at most, 0.

    >>> cut(Interval(0.0, 9.0), Fraction(3), Fraction(-6), strict=True).high < 2.0
    True
    """
    end = -constant / weight
    floor, exact = float_below(end)
    if weight < 0:  # x >= end, or x > end
        if exact and not strict:
            return interval.intersect(Interval(floor, math.inf))
        return interval.above(floor) if floor > -math.inf else interval
    if exact and strict:
        floor = math.nextafter(floor, -math.inf)
    return replace(interval, high=min(interval.high, floor))


def float_below(number: Fraction) -> tuple[float, bool]:
    """Return the largest float at or below a fraction, and whether it is equal to it."""
    nearest = nearest_float(number)
    if Fraction(nearest) > number:
        nearest = math.nextafter(nearest, -math.inf)
    return nearest, nearest > -math.inf and Fraction(nearest) == number


def nearest_float(number: Fraction) -> float:
    """Return the finite float nearest to a fraction."""
    try:
        return float(number)
    except OverflowError:
        return sys.float_info.max if number > 0 else -sys.float_info.max
