"""An action of a leaf between two linear functions of the features, for a range of its rule.

Exact for clip and no squash; for tanh a chord on one side and a tangent on the other, so that
halving a piece quarters its gap. Widened by the rounding of float64: act() stays between. Where
float64 overflows, a squashed action is at its limit whatever the exact rule says.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from icct.policy.parts import Action, Controller, Squash
from icct.policy.parts import squash as squashed
from icct.policy.policy import Policy
from icct.policy.region import Box
from icct.policy.rounding import SATURATED, UNIT, range_of, rounding_of, tanh_slack
from icct.verify.linear import Row
from icct.verify.question import nearest_float


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
    low: float  # of the computed values, -inf where some overflow
    high: float
    rounding: Fraction  # of those that are finite

    @property
    def exact(self) -> Linear:
        """The rule in real arithmetic."""
        weights = {f: Fraction(w) for f, w in self.rule.weights if w}
        return Linear(weights, Fraction(self.rule.bias))

    @property
    def is_bounded(self) -> bool:
        """Whether no value overflows."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Piece:
    """Where `low <= rule <= high`, as computed, the action lies between `least` and `most`."""

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
    return Ruled(
        index, policy.actions[index], rule, *range_of(rule, box), Fraction(rounding_of(rule, box))
    )


def pieces(policy: Policy, own: Ruled) -> list[Piece]:
    """Return the pieces that cover the range of a rule."""
    if own.low > own.high:  # every value is NaN, and act() refuses
        return []
    if policy.squash == "tanh":
        return [_tanh_piece(own, own.low, own.high), *_overflowing(own, "tanh")]
    low, high, action = own.low, own.high, own.action
    if policy.squash == "none":  # act() refuses what overflows
        return [Piece(own, -math.inf, math.inf, *_enclosed(own, low, high))]
    found = _overflowing(own, "clip")
    if low <= action.low and math.isfinite(action.low):
        found.append(_constant(own, low, action.low, action.low))
    if high >= action.high and math.isfinite(action.high):
        found.append(_constant(own, action.high, high, action.high))
    low, high = max(low, action.low), min(high, action.high)
    if low <= high:
        found.append(Piece(own, low, high, *_enclosed(own, low, high)))
    return found


def _enclosed(own: Ruled, low: float, high: float) -> tuple[Linear, Linear]:
    """Return what encloses a value that is finite: its rule, or its range where that is better."""
    least, most = own.exact.shifted(-own.rounding), own.exact.shifted(own.rounding)
    if own.is_bounded and own.rounding < high - low:
        return least, most
    return (
        Linear({}, Fraction(low)) if math.isfinite(low) else least,
        Linear({}, Fraction(high)) if math.isfinite(high) else most,
    )


def _overflowing(own: Ruled, kind: Squash) -> list[Piece]:
    """Return the actions at infinite values, wherever in the box those are."""
    limits = (
        float(squashed(end, own.action, kind))
        for end in (own.low, own.high)
        if not math.isfinite(end)
    )
    return [_constant(own, -math.inf, math.inf, limit) for limit in limits if math.isfinite(limit)]


def _constant(own: Ruled, low: float, high: float, value: float) -> Piece:
    line = Linear({}, Fraction(value))
    return Piece(own, low, high, line, line)


def _tanh_piece(own: Ruled, low: float, high: float) -> Piece:
    action, slack = own.action, Fraction(tanh_slack(own.action, low, high))
    bottom, top = (Fraction(float(squashed(end, action, "tanh"))) for end in (low, high))
    floor, ceiling = (
        Fraction(float(squashed(end, action, "tanh"))) for end in (-math.inf, math.inf)
    )
    rise, run = top - bottom, high - low
    flat = Piece(
        own,
        low,
        high,
        Linear({}, max(bottom - slack, floor)),
        Linear({}, min(top + slack, ceiling)),
        nearest_float(rise) if own.rounding < run else 0.0,  # else a narrower one is no better
    )
    if low < 0 < high or not 0 < run <= 2 * SATURATED:
        return flat
    middle, tangent_at = low + run / 2, float(squashed(low + run / 2, action, "tanh"))
    steep = Fraction(action.half_range * (1.0 - math.tanh(middle) ** 2))
    slope = Fraction(nearest_float(rise / Fraction(run)))
    chord = _line(own, low, bottom, slope)
    tangent = _line(own, middle, Fraction(tangent_at), steep)
    # tanh bends down above 0 and up below it
    under, over = (chord, tangent) if low >= 0 else (tangent, chord)
    # steep errs by some units of the last place of 1 - tanh², the chord by what rounds its slope
    room = 4 * slack + Fraction(16 * UNIT) * Fraction(action.half_range) * Fraction(run)
    room += abs(slope * Fraction(run) - rise) + max(steep, slope) * own.rounding
    if room >= rise:
        return flat
    return replace(flat, least=under.shifted(-room), most=over.shifted(room))


def _line(own: Ruled, at: float, value: Fraction, slope: Fraction) -> Linear:
    """Return the line with a slope through (at, value), as a function of the features."""
    return Linear({}, value - slope * Fraction(at)).plus(own.exact, slope)
