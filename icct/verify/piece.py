"""An action of a leaf between two linear functions of the features, for a range of its rule.

Exact for clip and no squash; for tanh a chord on one side and a tangent on the other, so that
halving a piece quarters its gap. Widened by the rounding of float64: act() stays between.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from icct.policy.parts import Action, Controller
from icct.policy.parts import squash as squashed
from icct.policy.policy import Policy
from icct.policy.region import Box, range_of, rounding_of
from icct.verify.extreme import tanh_slack
from icct.verify.linear import Row

SATURATED = 20.0  # float64 tanh is ±1 from here on


@dataclass(frozen=True)
class Linear:
    """A linear function of the features."""

    weights: Mapping[int, Fraction]
    constant: Fraction

    def plus(self, other: "Linear", factor: Fraction) -> "Linear":
        """Return this function plus a multiple of another."""
        weights = dict(self.weights)
        for feature, weight in other.weights.items():
            weights[feature] = weights.get(feature, Fraction(0)) + factor * weight
        return Linear(weights, self.constant + factor * other.constant)

    def shifted(self, amount: Fraction) -> "Linear":
        """Return this function plus a number."""
        return Linear(self.weights, self.constant + amount)


@dataclass(frozen=True)
class Ruled:
    """One action's rule in one leaf over a box, with what its float64 value may err by."""

    index: int
    action: Action
    rule: Controller
    low: float
    high: float
    rounding: Fraction

    @property
    def exact(self) -> Linear:
        """The rule in real arithmetic."""
        weights = {f: Fraction(w) for f, w in self.rule.weights if w}
        return Linear(weights, Fraction(self.rule.bias))

    @property
    def is_bounded(self) -> bool:
        """Whether the rule has a finite range; else its rounding has no bound."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Piece:
    """Where `low <= rule <= high`, the action lies between `least` and `most`."""

    ruled: Ruled
    low: float
    high: float
    least: Linear
    most: Linear
    width: float = 0.0  # of the action, where a narrower piece would be a better one

    def rows(self) -> Iterator[Row]:
        """Yield the rows that keep the rule within the piece."""
        rule, slack = self.ruled.exact, self.ruled.rounding
        if math.isfinite(self.high):
            yield Row(rule.weights, rule.constant - Fraction(self.high) - slack)
        if math.isfinite(self.low):
            down = {f: -w for f, w in rule.weights.items()}
            yield Row(down, Fraction(self.low) - slack - rule.constant)

    def halves(self) -> tuple["Piece", "Piece"]:
        """Return two pieces that share the range of a tanh piece, cut at 0 where they can be."""
        low, high = max(self.low, -SATURATED), min(self.high, SATURATED)
        cut = 0.0 if low < 0 < high else low + (high - low) / 2
        cut = min(max(cut, self.low), self.high)
        return _tanh_piece(self.ruled, self.low, cut), _tanh_piece(self.ruled, cut, self.high)


def ruled(policy: Policy, index: int, rule: Controller, box: Box) -> Ruled:
    """Return the rule of an action with its range over a box."""
    low, high = range_of(rule, box)
    return Ruled(index, policy.actions[index], rule, low, high, Fraction(rounding_of(rule, box)))


def pieces(policy: Policy, own: Ruled) -> list[Piece]:
    """Return the pieces that cover the range of a rule."""
    low, high, action = own.low, own.high, own.action
    if policy.squash == "tanh":
        return [_tanh_piece(own, low, high)]
    least, most = own.exact.shifted(-own.rounding), own.exact.shifted(own.rounding)
    if policy.squash == "none":
        return [Piece(own, low, high, least, most)]
    found = []
    if low <= action.low and math.isfinite(action.low):
        bottom = Linear({}, Fraction(action.low))
        found.append(Piece(own, low, action.low, bottom, bottom))
    if high >= action.high and math.isfinite(action.high):
        top = Linear({}, Fraction(action.high))
        found.append(Piece(own, action.high, high, top, top))
    low, high = max(low, action.low), min(high, action.high)
    if low <= high:
        found.append(Piece(own, low, high, least, most))
    return found


def _tanh_piece(own: Ruled, low: float, high: float) -> Piece:
    action = own.action
    bottom, top = (float(squashed(end, action, "tanh")) for end in (low, high))
    slack = tanh_slack(action)
    if low < 0 < high or not math.isfinite(high - low) or not low < high:
        least = Linear({}, Fraction(max(bottom - slack, action.low)))
        most = Linear({}, Fraction(min(top + slack, action.high)))
        return Piece(own, low, high, least, most, top - bottom)
    middle = low + (high - low) / 2
    slope = action.half_range * (1.0 - math.tanh(middle) ** 2)
    chord = _line(own, low, bottom, (top - bottom) / (high - low))
    tangent = _line(own, middle, float(squashed(middle, action, "tanh")), slope)
    # tanh bends down above 0 and up below it; the slopes err by some units of the last place
    under, over = (chord, tangent) if low >= 0 else (tangent, chord)
    steepest = max(slope, (top - bottom) / (high - low))
    room = 4 * Fraction(slack) + Fraction(steepest) * own.rounding
    return Piece(own, low, high, under.shifted(-room), over.shifted(room), top - bottom)


def _line(own: Ruled, at: float, value: float, slope: float) -> Linear:
    """Return the line with a slope through (at, value), as a function of the features."""
    start = Linear({}, Fraction(value) - Fraction(slope) * Fraction(at))
    return start.plus(own.exact, Fraction(slope))
