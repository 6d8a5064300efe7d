"""One validated step of a plant: sets of states → sets that hold all of them a moment later.

A Taylor series at the centre, its derivatives over the whole set (mean value theorem) and a
remainder over a box that no trajectory leaves during the step. The action is a part of the state
that stands still, so what ties it to the state is kept. Disturbances may change at any moment;
what they can do within the step is bounded and added. Where a rate has a kink inside a set (`abs`,
`min`, `max`) the series has one term only.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from icct.guarantee.enclosure import Enclosure, enclose
from icct.guarantee.jet import Jet
from icct.guarantee.rounding import (
    EPS,
    HUGE,
    Array,
    Mask,
    enclosed,
    exact_interval,
    product,
    upward,
)
from icct.guarantee.series import taylor
from icct.guarantee.tape import Tape, recorded
from icct.guarantee.zonotope import Zonotopes
from icct.plant import Plant

ORDER = 5  # of the Taylor series; 4 to 7 measure alike


@dataclass(frozen=True)
class Step:
    """What a step of some sets has led to; only where `fine` it means anything."""

    sets: Zonotopes  # states and actions at its end
    bend: Array  # how far trajectories leave the straight line from start to end, (sets, states)
    low: Array  # corners of a box around all trajectories during the step, (sets, states)
    high: Array
    fine: Mask


@dataclass(frozen=True)
class _Move:
    """The flow over one step: at the centres, and its derivatives over the sets."""

    value: Array
    error: Array
    slope: Array
    slope_error: Array
    bend: Array

    def where_finite(self, other: "_Move") -> "_Move":
        """Return this one where it is finite, the other one elsewhere."""
        sums = self.error.sum(1) + self.slope_error.sum((1, 2)) + self.bend.sum(1)
        fine: Mask = np.isfinite(sums)
        flat, deep = fine[:, None], fine[:, None, None]
        return _Move(
            np.where(flat, self.value, other.value),
            np.where(flat, self.error, other.error),
            np.where(deep, self.slope, other.slope),
            np.where(deep, self.slope_error, other.slope_error),
            np.where(flat, self.bend, other.bend),
        )


class Flow:
    """How the states of a plant move under held actions."""

    def __init__(self, plant: Plant) -> None:
        self.states, self.actions = len(plant.states), len(plant.actions)
        self.tape: Tape = recorded(plant.derivatives, moving_names(plant))
        unknown = [exact_interval(one.low, one.high) for one in plant.disturbances]
        self.noise_mid = np.array([mid for mid, _ in unknown])
        self.noise_rad = np.array([rad for _, rad in unknown])
        self._kinked = any(step.operation in ("abs", "min", "max") for step in self.tape.steps)

    def step(self, sets: Zonotopes, seconds: Fraction) -> Step:
        """Return where sets of states and actions lead to."""
        n = self.states
        with np.errstate(all="ignore"):  # what overflows is not `fine`
            around = enclose(self, sets.centre, sets.radius, seconds)
            move = self._smooth(sets, around, seconds)
            if self._kinked:
                move = move.where_finite(self._rough(sets, around, seconds))
            states = sets.image(move.value, move.error + around.push, move.slope, move.slope_error)
            ended = states.beside(sets.dimensions(slice(n, None))).absorbed(n)
            bend = upward(move.bend + 2 * around.push)
            low, high = _between(sets, ended, bend, around, n)
            fine = (
                around.found & (ended.radius < HUGE).all(1) & (np.abs(ended.centre) < HUGE).all(1)
            )
        return Step(ended, bend, low, high, fine & np.isfinite(bend).all(1))

    def inputs(self, mid: Array, rad: Array, noisy: bool) -> tuple[Array, Array]:
        """Return the inputs of the tape: states and actions, then disturbances."""
        shape = (len(mid), len(self.noise_mid))
        spread = np.broadcast_to(self.noise_rad if noisy else 0.0, shape)
        noise = np.broadcast_to(self.noise_mid, shape)
        return np.concatenate([mid, noise], 1), np.concatenate([rad, spread], 1)

    def _smooth(self, sets: Zonotopes, around: Enclosure, seconds: Fraction) -> _Move:
        count, columns = len(sets), self.states + self.actions
        mid = np.concatenate([sets.centre, sets.centre, around.mid])
        rad = np.concatenate([np.zeros_like(sets.centre), sets.radius, around.rad])
        series = taylor(self.tape, *self.inputs(mid, rad, False), ORDER, columns)
        powers = [enclosed(seconds**k) for k in range(ORDER + 1)]
        last = _part(series, ORDER, slice(2 * count, None))
        remainder, slopes = last[..., :1], _derivatives(last)
        slopes = Jet(*product(slopes.mid, slopes.rad, around.growth.mid, around.growth.rad))
        value, slope = remainder.scaled(*powers[ORDER]), slopes.scaled(*powers[ORDER])
        for k in reversed(range(ORDER)):
            at_centre = _part(series, k, slice(0, count))
            value += at_centre[..., :1].scaled(*powers[k])
            over_set = _derivatives(_part(series, k, slice(count, 2 * count)))
            slope += over_set.scaled(*powers[k])
        second = _part(series, 2, slice(2 * count, None))[..., 0]
        bend = (np.abs(second.mid) + second.rad) * (powers[2][0] + powers[2][1]) / 4
        return _Move(value.mid[..., 0], value.rad[..., 0], slope.mid, slope.rad, upward(bend))

    def _rough(self, sets: Zonotopes, around: Enclosure, seconds: Fraction) -> _Move:
        n, (h, h_error) = self.states, enclosed(seconds)
        centre = enclose(self, sets.centre, np.zeros_like(sets.centre), seconds)
        value = Jet(sets.centre[:, :n], np.zeros((len(sets), n))) + centre.speed.scaled(h, h_error)
        slopes = Jet(
            *product(around.slope.mid, around.slope.rad, around.growth.mid, around.growth.rad)
        )
        still = np.eye(n, n + self.actions)[None]
        slope = slopes.scaled(h, h_error) + Jet(still, np.zeros_like(still))
        bend = upward(around.speed.rad * (h + h_error) / 2)
        error = np.where(centre.found[:, None], value.rad, np.inf)
        return _Move(value.mid, error, slope.mid, slope.rad, bend)


def moving_names(plant: Plant) -> list[str]:
    """Return the names that rates are made of: states, actions, disturbances."""
    return [
        *(state.name for state in plant.states),
        *(action.name for action in plant.actions),
        *(disturbance.name for disturbance in plant.disturbances),
    ]


def _part(series: Jet, k: int, rows: slice) -> Jet:
    """Return one coefficient of some rows, shape (rows, states, columns)."""
    return Jet(
        series.mid[:, k, rows].transpose(1, 0, 2).copy(),
        series.rad[:, k, rows].transpose(1, 0, 2).copy(),
    )


def _derivatives(jet: Jet) -> Jet:
    return Jet(jet.mid[..., 1:], jet.rad[..., 1:])


def _between(
    begun: Zonotopes, ended: Zonotopes, bend: Array, around: Enclosure, n: int
) -> tuple[Array, Array]:
    """Return a box around what happens between two moments: the chord's, inside the enclosure."""
    (low, high), (low_end, high_end) = begun.hull(), ended.hull()
    slack = upward(bend) + (np.abs(begun.centre[:, :n]) + np.abs(ended.centre[:, :n])) * EPS
    first, last = around.corners()
    return (
        np.maximum(np.minimum(low, low_end)[:, :n] - slack, first[:, :n]),
        np.minimum(np.maximum(high, high_end)[:, :n] + slack, last[:, :n]),
    )
