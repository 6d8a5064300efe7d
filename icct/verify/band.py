"""Does one action of a leaf come to lie within limits? By the corners of its box, then by walks.

An action that gets beyond a limit does so the most at a corner. Where no corner answers, because
the action overflows there or has to hit one number, walks look for the floats in between.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from icct.policy.parts import Action, Controller
from icct.policy.parts import squash as squashed
from icct.policy.policy import Policy
from icct.policy.region import Box, middle
from icct.verify.extreme import Extreme, extreme, observations_at
from icct.verify.outcome import Impossible, Outcome, Undecided, best_found, miss
from icct.verify.question import Question
from icct.verify.walk import Point, courses, finite_corner, movable, walk


class Limit(NamedTuple):
    """The action is above `edge` (way 1) or below it (way -1), or equal to it unless `strict`."""

    way: int
    edge: Fraction
    strict: bool

    def missed_by(self, value: float) -> float | None:
        """Return how far a value is from it; None when it holds."""
        if not math.isfinite(value):
            return math.inf if value * self.way < 0 else None
        missed = miss(self.way * (self.edge - Fraction(value)), self.strict)
        return None if missed is None else missed.margin


def solve_band(policy: Policy, leaf: int, box: Box, question: Question, action: int) -> Outcome:
    """Return whether the action of a leaf comes to lie within all limits of a question."""
    limits = [
        Limit(row.limit[1], row.limit[2], row.features.strict)
        for row in question.action_rows
        if row.limit is not None
    ]
    ends = [extreme(policy, leaf, action, box, limit.way) for limit in limits]
    if margins := list(_margins(limits, ends)):
        return Impossible(max(margins))
    corners = (observation for end in ends for observation in observations_at(end.corner, box))
    found = best_found(policy, question, corners)
    if found is not None:
        return found
    node = policy.leaf(leaf)
    walks = _Walks(policy, node.controllers[action], policy.actions[action], box, limits)
    pairs = list(walks.pairs())
    found = best_found(policy, question, (walks.observation(first) for _, first in pairs))
    if found is not None:
        return found
    undecided = _undecided(leaf, policy.actions[action].name, ends[0].value)
    return walks.stepped_over(pairs) or undecided


def _margins(limits: list[Limit], ends: list[Extreme]) -> Iterator[float]:
    """Yield by how much the action misses the limits that it does not reach anywhere."""
    for limit, end in zip(limits, ends, strict=True):
        bound = end.value + limit.way * end.slack
        missed = limit.missed_by(bound) if math.isfinite(bound) else None
        if missed is not None:
            yield missed


@dataclass(frozen=True)
class _Walks:
    """The walks through one leaf that look for an action within limits."""

    policy: Policy
    rule: Controller
    action: Action
    box: Box
    limits: list[Limit]

    def pairs(self) -> Iterator[tuple[Point, Point]]:
        """Yield neighbours where a limit comes to hold, walking up and walking down."""
        for way in (1, -1):
            facing = [limit for limit in self.limits if limit.way == way]
            for course in courses(self.rule, self.box, way) if facing else ():
                yield from walk(*course, partial(self._misses, facing))

    def observation(self, point: Point) -> tuple[float, ...]:
        """Return a point of the rule's features as an observation."""
        return tuple(point.get(f, middle(interval)) for f, interval in enumerate(self.box))

    def stepped_over(self, pairs: list[tuple[Point, Point]]) -> Impossible | None:
        """Return that no float lies within the limits, which one pair shows for one feature."""
        if self.policy.squash == "tanh" or len(movable(self.rule, self.box)) > 1:
            return None
        margins = []
        corners = finite_corner(self.rule, self.box, -1), finite_corner(self.rule, self.box, 1)
        for value in map(self._value, pairs[0] if pairs else corners):
            missed = [limit.missed_by(value) for limit in self.limits]
            if not any(margin is not None for margin in missed) and math.isfinite(value):
                return None  # it lies within, but act() refuses for another action
            margins += [margin for margin in missed if margin is not None and margin < math.inf]
        return Impossible(min(margins, default=None))

    def _value(self, point: Point) -> float:
        return float(squashed(self.rule.value(point), self.action, self.policy.squash))

    def _misses(self, limits: list[Limit], point: Point) -> bool:
        value = self._value(point)
        return any(limit.missed_by(value) is not None for limit in limits)


def _undecided(leaf: int, name: str, end: float) -> Undecided:
    return Undecided(
        f"in leaf {leaf}, {name} comes to {end:.17g}, too near to the limit for float64"
        if math.isfinite(end)
        else f"in leaf {leaf}, {name} overflows where the features have no bounds"
    )
