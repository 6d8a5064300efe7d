"""Plant × policy × starts → trajectories, many at once, by the ordinary integrator.

What a proof must contain and a falsifier looks through. Within a period actions and disturbances
are held; a trajectory that leaves the numbers or the guard ends there, in NaN.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from icct.plant.arithmetic import ARRAYS, Array
from icct.plant.expression import compiled
from icct.plant.integrate import TOLERANCE, advance_many, array_motion
from icct.plant.margin import margin
from icct.plant.plant import Box, Observation, Plant, State
from icct.plant.question import TIME
from icct.policy import Action


class BatchActor(Protocol):
    """What acts on many observations at once, as a policy does."""

    def act_batch(self, observations: ArrayLike) -> Array:
        """Return the actions (n, actions) for observations (n, features)."""
        ...


@dataclass(frozen=True)
class Trajectories:
    """Where a plant went from each of its starts.

    Every period is sampled at both of its ends and between them, so that the end of one and the
    start of the next are two samples of one moment with two actions.
    """

    plant: Plant
    times: Array  # (samples,), seconds
    states: Array  # (trajectories, samples, states)
    observations: Array  # (trajectories, samples, observations)
    actions: Array  # (trajectories, samples, actions), held there

    def values(self) -> dict[str, Array]:
        """Return every number by name, each (trajectories, samples), and time."""
        found: dict[str, Array] = {TIME: np.broadcast_to(self.times, self.states.shape[:2])}
        named: tuple[tuple[Sequence[Action | Observation | State], Array], ...] = (
            (self.plant.actions, self.actions),
            (self.plant.observations, self.observations),
            (self.plant.states, self.states),
        )
        for parts, numbers in named:
            found |= {part.name: numbers[:, :, place] for place, part in enumerate(parts)}
        return found


def periods(plant: Plant, seconds: Fraction) -> list[float]:
    """Return how long the controller holds each of its actions; the last may be cut short."""
    whole = math.floor(seconds / plant.period)
    rest = seconds - whole * plant.period
    return [float(plant.period)] * whole + ([float(rest)] if rest else [])


def simulate(
    plant: Plant,
    actor: BatchActor,
    starts: ArrayLike,
    seconds: Fraction,
    *,
    disturbances: ArrayLike | None = None,
    samples: int = 5,
    tolerance: float = TOLERANCE,
) -> Trajectories:
    """Return the trajectories of a plant under a controller.

    Args:
        plant: The plant.
        actor: Its controller: a policy.
        starts: (trajectories, states).
        seconds: How long.
        disturbances: (trajectories, periods, disturbances); by default the middle of their boxes.
        samples: Parts of a period after each of which the state is kept.
        tolerance: Of the integrator.
    """
    current = np.array(starts, dtype=np.float64)
    lengths = periods(plant, seconds)
    noise = _disturbances(plant, disturbances, len(current), len(lengths))
    moving, look = array_motion(plant), _look(plant)
    kept: list[tuple[float, Array, Array, Array]] = []
    began = 0.0
    for number, length in enumerate(lengths):
        held = {one.name: noise[:, number, k] for k, one in enumerate(plant.disturbances)}
        acted = _acted(actor, look(current, held), len(plant.actions))
        held |= {one.name: acted[:, k] for k, one in enumerate(plant.actions)}
        kept.append((began, current, look(current, held), acted))
        for part in range(samples):
            current = advance_many(moving, current, held, length / samples, tolerance)
            current = _inside_guard(plant, current)
            moment = began + length * (part + 1) / samples
            kept.append((moment, current, look(current, held), acted))
        began = float(plant.period * (number + 1))
    times, states, seen, actions = zip(*kept, strict=True)
    return Trajectories(
        plant,
        np.array(times),
        np.stack(states, axis=1),
        np.stack(seen, axis=1),
        np.stack(actions, axis=1),
    )


def _look(plant: Plant) -> Callable[[Array, Mapping[str, Array]], Array]:
    """Return what sees (n, observations) of states (n, states) and disturbances."""
    look = compiled([one.value for one in plant.observations], ARRAYS)
    names = [one.name for one in plant.states]

    def seen(states: Array, disturbances: Mapping[str, Array]) -> Array:
        with np.errstate(all="ignore"):
            columns = look({**disturbances, **dict(zip(names, states.T, strict=True))})
        return np.stack([np.broadcast_to(column, len(states)) for column in columns], axis=1)

    return seen


def within(box: Sequence[Box], parts: Array) -> Array:
    """Return the points of a box that lie at parts (n, sides) of its sides, from 0 to 1.

    >>> within([(Fraction(1), Fraction(3))], np.array([[0.0], [0.5], [1.0]])).ravel().tolist()
    [1.0, 2.0, 3.0]
    """
    low, high = (np.array([float(side[end]) for side in box]) for end in (0, 1))
    points: Array = np.clip(low + parts * (high - low), low, high)
    return points


def _acted(actor: BatchActor, seen: Array, width: int) -> Array:
    """Return the actions for what is seen; none for a trajectory that has ended."""
    acted = np.full((len(seen), width), np.nan)
    going = np.isfinite(seen).all(axis=1)
    if going.any():
        acted[going] = actor.act_batch(seen[going])
    return acted


def _inside_guard(plant: Plant, states: Array) -> Array:
    if plant.guard is None:
        return states
    named = {one.name: states[:, place] for place, one in enumerate(plant.states)}
    outside = margin(plant.guard.violation, named) > 0
    return np.where(np.reshape(outside, (-1, 1)), np.nan, states)


def _disturbances(plant: Plant, given: ArrayLike | None, count: int, length: int) -> Array:
    shape = (count, length, len(plant.disturbances))
    if given is not None:
        found: Array = np.asarray(given, dtype=np.float64)
        if found.shape != shape:
            raise ValueError(f"disturbances have shape {found.shape}, expected {shape}")
        return found
    boxes = [(one.low, one.high) for one in plant.disturbances]
    middle: Any = within(boxes, np.full((1, len(boxes)), 0.5))
    return np.broadcast_to(middle[:, None, :], shape)
