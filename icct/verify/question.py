"""A property's cases, with names looked up in a policy: what one leaf is asked.

A case is a box of observations, rows over several features, and conditions on the actions. The box
is exact for float64 observations; nothing is decided here.
"""

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction

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

    @property
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

    def is_answered_by(self, policy: Policy, observation: tuple[float, ...]) -> bool:
        """Return whether the observation, through act(), makes everything hold; exact."""
        for value, interval in zip(observation, self.box, strict=True):
            if not math.isfinite(value) or value not in interval:
                return False
        if not all(self._holds(row, observation) for row in self.rows):
            return False
        try:
            acted = policy.act(observation).tolist()
        except ObservationError:  # a rule overflows there: act() gives no action
            return False
        for row in self.action_rows:
            part = sum((w * Fraction(acted[action]) for action, w in row.actions), Fraction(0))
            if not self._holds(row.features, observation, part):
                return False
        return True

    def excess(self, policy: Policy, observation: tuple[float, ...]) -> float:
        """Return by how much the action rows hold, the least of them."""
        acted = policy.act(observation).tolist()
        amounts = [
            -row.features.constant
            - sum(w * Fraction(observation[f]) for f, w in row.features.weights.items())
            - sum(w * Fraction(acted[action]) for action, w in row.actions)
            for row in self.action_rows
        ]
        return nearest_float(min(amounts, default=Fraction(0)))

    @staticmethod
    def _holds(row: Row, observation: tuple[float, ...], part: Fraction = Fraction(0)) -> bool:
        total = row.constant + part
        for feature, weight in row.weights.items():
            total += weight * Fraction(observation[feature])
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
