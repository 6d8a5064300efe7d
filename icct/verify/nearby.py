"""Observations beside one that nearly answers a question: one feature moved as far as it may be.

A solution of a linear program is a corner in exact arithmetic, which rounding to float64 puts on
the wrong side of a row as often as not. Along one feature all rows can be kept to the last bit.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from icct.policy.policy import Policy
from icct.policy.region import Box, Interval, end_of, near_zero
from icct.policy.rounding import LARGEST
from icct.verify.outcome import Found, best_found
from icct.verify.question import Question, cut
from icct.verify.walk import neighbours

MOST_STARTS = 6
Observation = tuple[float, ...]


def found_nearby(
    policy: Policy, question: Question, box: Box, starts: Sequence[Observation]
) -> Found | None:
    """Return an observation beside the starts, or beside those that keep to the rows there."""
    starts = [*starts[: MOST_STARTS - 1], tuple(map(near_zero, box))]
    for _ in range(2):
        moved = [
            observation
            for start in starts[:MOST_STARTS]
            for observation in _moved(policy, question, box, start)
        ]
        found = best_found(policy, question, moved)
        if found is not None:
            return found
        starts = [observation for observation in moved if question.admits(observation)]
    return None


def _moved(
    policy: Policy, question: Question, box: Box, start: Observation
) -> Iterator[Observation]:
    """Yield a start with one feature at its ends, and where an action row begins to hold."""
    for feature in {*policy.used_features, *(f for row in question.rows for f in row.weights)}:
        interval = _allowed(question, box, start, feature)
        low, high = (min(max(end_of(interval, way), -LARGEST), LARGEST) for way in (-1, 1))
        if not low <= high:
            continue
        low, high = _acting(question, policy, start, feature, low, high)
        ends = _with(start, feature, low), _with(start, feature, high)
        yield from ends
        for row in range(len(question.action_rows)):
            first, last = (question.holds(policy, row, end) for end in ends)
            if first != last:
                holds = partial(_holds_with, policy, question, row, start, feature)
                ways = (low, high) if first else (high, low)
                yield from (_with(start, feature, value) for value in neighbours(*ways, holds))


def _acting(
    question: Question, policy: Policy, start: Observation, feature: int, low: float, high: float
) -> tuple[float, float]:
    """Return the ends of an interval, drawn in to where act() acts: from the start or one end."""
    acts = partial(_acts_with, question, policy, start, feature)
    inside = min(max(start[feature], low), high)
    anchor = next((value for value in (inside, low, high) if acts(value)), None)
    if anchor is None:
        return low, high
    low, high = (end if acts(end) else neighbours(anchor, end, acts)[0] for end in (low, high))
    return low, high


def _allowed(question: Question, box: Box, start: Observation, feature: int) -> Interval:
    """Return the values of a feature that keep to the box and to the rows, all else as it is."""
    interval = box[feature]
    for row in question.rows:
        if weight := row.weights.get(feature):
            rest = sum(w * Fraction(start[f]) for f, w in row.weights.items() if f != feature)
            interval = cut(interval, weight, row.constant + rest, row.strict)
    return interval


def _holds_with(
    policy: Policy, question: Question, row: int, start: Observation, feature: int, value: float
) -> bool:
    return question.holds(policy, row, _with(start, feature, value))


def _acts_with(
    question: Question, policy: Policy, start: Observation, feature: int, value: float
) -> bool:
    return question.acts(policy, _with(start, feature, value))


def _with(observation: Observation, feature: int, value: float) -> Observation:
    return (*observation[:feature], value, *observation[feature + 1 :])
