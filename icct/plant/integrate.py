"""Plant × actions → where it goes: an ordinary integrator, for one trajectory or many at once.

Extrapolated midpoint steps (Gragg, Bulirsch and Stoer): the midpoint rule with 2, 4, 6, ... parts,
extrapolated to infinitely many, until two orders agree; else half the step. It is accurate to
rounding on smooth models and says so by its own estimate, but it proves nothing.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from icct.errors import PlantError
from icct.plant.arithmetic import ARRAYS, FLOATS, Array
from icct.plant.expression import Arithmetic, compiled
from icct.plant.plant import Plant

N = TypeVar("N", float, Array)
MOST_COLUMNS = 8  # of the extrapolation: order 16
MOST_HALVINGS = 14  # of a step, before a trajectory is given up
LARGEST = 1e9  # a state this large has left every model
TOLERANCE = 1e-12  # relative to 1 plus the state


class LostError(PlantError):
    """A trajectory has left the numbers: a division by zero, a blow-up, a root of a negative."""


@dataclass(frozen=True)
class Motion(Generic[N]):
    """How the states of a plant move, for one kind of number."""

    names: tuple[str, ...]
    rates: Callable[[Mapping[str, N]], list[N]]

    def slopes(self, state: Sequence[N], held: Mapping[str, N]) -> list[N]:
        """Return the rates at a state, with actions and disturbances held."""
        return self.rates({**held, **dict(zip(self.names, state, strict=True))})


def motion(plant: Plant, arithmetic: Arithmetic[N]) -> Motion[N]:
    """Return how a plant moves."""
    return Motion(
        tuple(state.name for state in plant.states), compiled(plant.derivatives, arithmetic)
    )


def float_motion(plant: Plant) -> Motion[float]:
    """Return how one trajectory of a plant moves."""
    return motion(plant, FLOATS)


def array_motion(plant: Plant) -> Motion[Array]:
    """Return how many trajectories of a plant move at once."""
    return motion(plant, ARRAYS)


def advance(
    moving: Motion[float],
    state: Sequence[float],
    held: Mapping[str, float],
    seconds: float,
    tolerance: float = TOLERANCE,
) -> list[float]:
    """Return the state some seconds later, with actions and disturbances held, or raise LostError.

    >>> from icct.plant import read_plant
    >>> pendulum = float_motion(read_plant("plant:single-pendulum"))
    >>> [round(value, 6) for value in advance(pendulum, [1.0, 0.0], {"torque": 0.0}, 0.05)]
    [1.002104, 0.084185]
    """
    current, left, step = list(state), seconds, seconds
    smallest = seconds * 0.5**MOST_HALVINGS
    while left > 0:
        step = min(step, left)
        try:
            reached = _extrapolated(moving, current, held, step, tolerance)
        except (ArithmeticError, ValueError):  # outside of a function's domain
            reached = None
        if reached is None:
            step /= 2
            if step < smallest:
                raise LostError(_lost(moving.names, current, seconds - left))
            continue
        current, left = reached, left - step
        if max(map(abs, current)) > LARGEST:
            raise LostError(_lost(moving.names, current, seconds - left))
        step *= 2
    return current


def advance_many(
    moving: Motion[Array],
    states: Array,
    held: Mapping[str, Array],
    seconds: float,
    tolerance: float = TOLERANCE,
) -> Array:
    """Return states (trajectories, states) some seconds later; one that is lost becomes NaN."""
    result = np.full(states.shape, np.nan)
    rows = np.flatnonzero(np.isfinite(states).all(axis=1))
    columns = [states[rows, place] for place in range(states.shape[1])]
    actions = {name: values[rows] for name, values in held.items()}
    left, step, smallest = seconds, seconds, seconds * 0.5**MOST_HALVINGS
    while left > 0 and len(rows):
        step = min(step, left)
        with np.errstate(all="ignore"):
            reached, wrong = _extrapolated_rows(moving, columns, actions, step, tolerance)
        if wrong.any() and step >= 2 * smallest:
            step /= 2
            continue
        kept = ~wrong
        rows, columns = rows[kept], [column[kept] for column in reached]
        actions = {name: values[kept] for name, values in actions.items()}
        left, step = left - step, step * 2
        if wrong.any():
            step = left  # what made the steps small is gone
    if len(rows):
        result[rows] = np.stack(columns, axis=1)
    return result


def _extrapolated(
    moving: Motion[float],
    state: Sequence[float],
    held: Mapping[str, float],
    step: float,
    tolerance: float,
) -> list[float] | None:
    """Return the state one step later; None where the orders do not agree."""
    for better, coarser in _orders(moving, state, held, step):
        worst = max(abs(a - b) / (1.0 + abs(a)) for a, b in zip(better, coarser, strict=True))
        if worst <= tolerance:
            return better
        if not math.isfinite(worst):
            return None
    return None


def _extrapolated_rows(
    moving: Motion[Array],
    state: Sequence[Array],
    held: Mapping[str, Array],
    step: float,
    tolerance: float,
) -> tuple[list[Array], Any]:
    """Return the states one step later, and which of them cannot be trusted."""
    better: list[Array] = []
    wrong: Any = np.zeros(0, dtype=bool)
    for better, coarser in _orders(moving, state, held, step):
        worst = np.max(
            [np.abs(a - b) / (1.0 + np.abs(a)) for a, b in zip(better, coarser, strict=True)],
            axis=0,
        )
        large = np.max([np.abs(a) for a in better], axis=0) > LARGEST
        wrong = ~(worst <= tolerance) | large  # NaN is wrong too
        if not wrong.any() or np.isnan(worst).any():
            break
    return better, wrong


def _orders(
    moving: Motion[N], state: Sequence[N], held: Mapping[str, N], step: float
) -> Iterator[tuple[list[N], list[N]]]:
    """Yield extrapolations of rising order, each with the one before."""
    first = moving.slopes(state, held)
    before: list[list[N]] = []
    for column in range(MOST_COLUMNS):
        row = [_midpoint(moving, state, first, held, step, 2 * (column + 1))]
        for k in range(1, column + 1):
            ratio = ((column + 1) / (column + 1 - k)) ** 2 - 1.0
            row.append(
                [a + (a - b) / ratio for a, b in zip(row[k - 1], before[k - 1], strict=True)]
            )
        if column:
            yield row[-1], row[-2]
        before = row


def _midpoint(
    moving: Motion[N],
    state: Sequence[N],
    first: Sequence[N],
    held: Mapping[str, N],
    step: float,
    parts: int,
) -> list[N]:
    """Return the state one step later by the midpoint rule."""
    h = step / parts
    earlier = list(state)
    current = [x + h * slope for x, slope in zip(state, first, strict=True)]
    for _ in range(parts - 1):
        slopes = moving.slopes(current, held)
        earlier, current = (
            current,
            [x + 2.0 * h * slope for x, slope in zip(earlier, slopes, strict=True)],
        )
    return current


def _lost(names: Sequence[str], state: Sequence[float], after: float) -> str:
    where = ", ".join(f"{n} = {value:.4g}" for n, value in zip(names, state, strict=True))
    return (
        f"the model leaves the numbers {after:.4g} s into a period, near {where}: it divides by "
        "zero, takes a root or logarithm of a negative number, or grows without end."
    )
