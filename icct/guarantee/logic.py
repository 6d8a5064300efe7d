"""Conditions about sets: whether every state of a set, or of a stretch of tube, makes them hold.

A comparison is bounded over a set by the mean value theorem along the set's own generators, so that
`x_lead - x_ego` of a set is as narrow as it is. `and` and `or` ask for their parts: an `or` of
which no part alone holds all over a set is not shown, and a smaller set is needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from icct.guarantee.flow import moving_names
from icct.guarantee.rounding import EPS, Array, Mask, exact_interval, low_high, mid_rad, upward
from icct.guarantee.series import values
from icct.guarantee.tape import recorded
from icct.guarantee.zonotope import Zonotopes
from icct.plant import Plant
from icct.plant.expression import Expression, Name, Number, Operation, substituted
from icct.plant.question import TIME
from icct.verify.condition import AllOf, Comparison, Condition

ROUNDING = 2.0**-42  # of the size of all terms: more than sums of a thousand of them lose


@dataclass(frozen=True)
class Stretch:
    """The tube of some sets from one moment to a later one; or at one moment, if they are equal."""

    begun: Zonotopes  # states and actions
    ended: Zonotopes
    bend: Array  # how far trajectories leave the straight line between, (sets, states)
    low: Array  # a box around the states, (sets, states)
    high: Array
    since: Fraction  # seconds
    until: Fraction
    is_last: bool = False  # else the end belongs to the next stretch

    def rows(self, which: Mask) -> "Stretch":
        """Return the stretch of some of the sets."""
        return Stretch(
            self.begun.rows(which),
            self.ended.rows(which),
            self.bend[which],
            self.low[which],
            self.high[which],
            self.since,
            self.until,
            self.is_last,
        )


def moment(sets: Zonotopes, states: int, time: Fraction) -> Stretch:
    """Return the stretch that lasts no time."""
    low, high = sets.hull()
    still = np.zeros((len(sets), states))
    return Stretch(sets, sets, still, low[:, :states], high[:, :states], time, time, True)


class Test:
    """A condition over states, observations, actions and time, ready to be asked about sets."""

    def __init__(self, condition: Condition, plant: Plant) -> None:
        self._condition, self._states = condition, len(plant.states)
        comparisons = list(dict.fromkeys(_comparisons(condition)))
        self._place = {one: place for place, one in enumerate(comparisons)}
        seen = {one.name: one.value for one in plant.observations}
        sums = [substituted(_sum(one), seen) for one in comparisons]
        self._tape = recorded(sums, [*moving_names(plant), TIME])
        unknown = [exact_interval(one.low, one.high) for one in plant.disturbances]
        self._noise_mid = np.array([mid for mid, _ in unknown])
        self._noise_rad = np.array([rad for _, rad in unknown])

    def holds(self, stretch: Stretch) -> Mask:
        """Return for which sets the condition holds all over the stretch."""
        if not len(stretch.begun):
            return np.zeros(0, dtype=bool)
        with np.errstate(all="ignore"):  # a bound that is no number shows nothing
            return self._shown(self._condition, self._bounds(stretch), stretch)

    def _shown(self, condition: Condition, bounds: Array, stretch: Stretch) -> Mask:
        if isinstance(condition, Comparison):
            if [name for name, _ in condition.expression.weights] == [TIME]:
                answer = _holds_in_time(condition, stretch)
                return np.full(len(stretch.begun), answer)
            most = bounds[self._place[condition]]
            shown: Mask = most < 0 if condition.strict else most <= 0
            return shown
        parts = [self._shown(part, bounds, stretch) for part in condition.parts]
        both = np.logical_and if isinstance(condition, AllOf) else np.logical_or
        return reduce(both, parts, np.full(len(stretch.begun), isinstance(condition, AllOf)))

    def _bounds(self, stretch: Stretch) -> Array:
        """Return the most that each comparison's expression is, shape (comparisons, sets)."""
        middle, mid, rad = self._inputs(stretch)
        jets = values(
            self._tape,
            np.concatenate([middle, mid]),
            np.concatenate([np.zeros_like(rad), rad]),
            mid.shape[1],
        )
        count, z = len(mid), stretch.begun.centre.shape[1]
        slope, slope_error = jets.mid[:, count:, 1:], jets.rad[:, count:, 1:]
        steep = np.abs(slope)
        along = np.maximum(
            _most(stretch.begun, slope[..., :z], middle),
            _most(stretch.ended, slope[..., :z], middle),
        )
        along += (steep[..., : self._states] * stretch.bend).sum(2)
        off = np.abs(mid - middle) + rad
        along += (steep[..., z:] * off[:, z:]).sum(2) + (slope_error * off).sum(2)
        value, error = jets.mid[:, :count, 0], jets.rad[:, :count, 0]
        size = np.abs(value) + ((steep + slope_error) * (np.abs(middle) + off)).sum(2)
        by_slope = value + along + error + size * ROUNDING
        _, by_range = low_high(jets.mid[:, count:, 0], jets.rad[:, count:, 0])
        found: Array = np.fmin(by_slope, by_range)
        return found

    def _inputs(self, stretch: Stretch) -> tuple[Array, Array, Array]:
        """Return a point, and the midpoint and radius of a box around it and the whole stretch."""
        count, n = len(stretch.begun), self._states
        time = np.full((count, 1), float((stretch.since + stretch.until) / 2))
        spread = np.full((count, 1), float((stretch.until - stretch.since) / 2))
        noise = np.broadcast_to(self._noise_mid, (count, len(self._noise_mid)))
        centre = stretch.begun.centre / 2 + stretch.ended.centre / 2
        low, high = stretch.begun.hull()
        low = np.minimum(np.concatenate([stretch.low, low[:, n:]], 1), centre)
        high = np.maximum(np.concatenate([stretch.high, high[:, n:]], 1), centre)
        mid, rad = mid_rad(low, high)
        noise_rad = np.broadcast_to(self._noise_rad, noise.shape)
        spread = upward(spread) + np.abs(time) * EPS
        return (
            np.concatenate([centre, noise, time], 1),
            np.concatenate([mid, noise, time], 1),
            np.concatenate([rad, noise_rad, spread], 1),
        )


def _most(sets: Zonotopes, slope: Array, middle: Array) -> Array:
    """Return the most that slope · (x - middle) is over the sets, shape (comparisons, sets)."""
    away = sets.centre - middle[:, : sets.centre.shape[1]]
    generators = np.concatenate([sets.start, sets.noise], 2)
    turned = np.einsum("csd,sdg->csg", slope, generators)
    most: Array = (slope * away).sum(2) + np.abs(turned).sum(2) + (np.abs(slope) * sets.box).sum(2)
    return most


def _holds_in_time(comparison: Comparison, stretch: Stretch) -> bool:
    """Return whether a comparison of the time alone holds all over a stretch, exactly."""
    ((_, weight),) = comparison.expression.weights
    ends = [comparison.expression.constant + weight * t for t in (stretch.since, stretch.until)]
    most = max(ends)
    if most == 0 and ends[1] == 0 and ends[0] != 0 and not stretch.is_last:
        return True  # 0 only at the end, which belongs to the next stretch
    return most < 0 or (most == 0 and not comparison.strict)


def _comparisons(condition: Condition) -> Iterator[Comparison]:
    if isinstance(condition, Comparison):
        yield condition
    else:
        for part in condition.parts:
            yield from _comparisons(part)


def _sum(comparison: Comparison) -> Expression:
    total: Expression = Number(comparison.expression.constant)
    for name, weight in comparison.expression.weights:
        total = Operation("+", total, Operation("*", Number(weight), Name(name)))
    return total
