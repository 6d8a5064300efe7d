"""Plant × policy × question → one trajectory that shows the answer is no, or the nearest miss.

Corners of the box of starts and random points first, then a search for the worst of them: whoever
came nearest to breaking the condition is mixed and moved. A wrong controller falls at once; one
that survives is not proved.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from icct.plant.arithmetic import Array
from icct.plant.margin import margin, violation
from icct.plant.plant import Box, Plant
from icct.plant.question import TIME, Question
from icct.plant.simulate import BatchActor, Trajectories, periods, simulate, within

MOST_CORNERS = 256
SURE = 1e-9  # by which a condition must be broken: integrators and floats are not exact
ROUGH = 1e-9  # tolerance of the search; what it finds is integrated again, better
ELITE = 0.2  # of a generation, which the next is made of


@dataclass(frozen=True)
class Effort:
    """How hard to look."""

    samples: int = 256  # random starts, beside the corners
    generations: int = 12  # of the search
    size: int = 64  # trajectories of each
    per_period: int = 4  # moments of a period that are looked at
    seed: int = 0


@dataclass(frozen=True)
class Attempt:
    """One trajectory, and by how much it keeps the condition: negative where it breaks it."""

    start: tuple[float, ...]
    disturbances: tuple[tuple[float, ...], ...]  # by period
    margin: float
    time: float  # of the moment that is nearest to breaking it, or breaks it most

    def trajectory(
        self, plant: Plant, actor: BatchActor, seconds: Fraction, per_period: int = 8
    ) -> Trajectories:
        """Return where it goes, for a figure or another check."""
        noise = np.array([self.disturbances]).reshape(1, len(periods(plant, seconds)), -1)
        return simulate(plant, actor, [self.start], seconds, disturbances=noise, samples=per_period)


@dataclass(frozen=True)
class Falsification:
    """What a search gave: `refuted`, or the nearest miss among so many trajectories."""

    worst: Attempt
    refuted: bool
    trajectories: int
    left_model: int  # of them, that left the numbers or the guard on the way

    def as_json(self, plant: Plant) -> dict[str, Any]:
        """Return everything as plain values."""
        names = [state.name for state in plant.states]
        return {
            "refuted": self.refuted,
            "start": dict(zip(names, self.worst.start, strict=True)),
            "disturbances": [list(row) for row in self.worst.disturbances],
            "margin": self.worst.margin,
            "time": self.worst.time,
            "trajectories": self.trajectories,
            "left_model": self.left_model,
        }


def falsify(
    plant: Plant,
    actor: BatchActor,
    question: Question,
    box: Sequence[Box] | None = None,
    effort: Effort | None = None,
) -> Falsification:
    """Look for a start, and disturbances, from which the answer to a question is no.

    Args:
        plant: The plant.
        actor: Its controller: a policy.
        question: What is asked.
        box: The starts, in the order of the states; by default the plant's own.
        effort: How hard to look.
    """
    effort = effort or Effort()
    plant.checked(question.condition)
    search = _Search(plant, actor, question, tuple(box or plant.start), effort)
    search.play(search.first_points())
    for _ in range(effort.generations):
        if search.refuted:
            break
        search.play(search.next_points())
    found = search.result()
    if found.refuted and replay(plant, actor, question, found.worst) >= -SURE:
        return replace(found, refuted=False)  # nothing but the search's own errors
    return found


def replay(
    plant: Plant, actor: BatchActor, question: Question, attempt: Attempt, per_period: int = 16
) -> float:
    """Return by how much one attempt keeps the condition when it is integrated anew.

    Negative by more than `SURE`: it is refuted.
    """
    trajectory = attempt.trajectory(plant, actor, question.time, per_period)
    return float(kept_by(question, trajectory)[0][0])


def kept_by(question: Question, trajectories: Trajectories) -> tuple[Array, Array]:
    """Return by how much each trajectory keeps the condition, and when it does so the least.

    For `reach` the largest margin of all moments counts, and what it changes between two of them
    is added: a goal that is passed between two samples is not missed.
    """
    values = trajectories.values()
    broken = np.broadcast_to(margin(violation(question), values), values[TIME].shape)
    ended = ~np.all(np.isfinite(trajectories.states), axis=2)
    times = trajectories.times
    if question.kind == "reach":
        held = np.where(ended, -np.inf, -broken)
        with np.errstate(invalid="ignore"):
            rise = np.nan_to_num(np.abs(np.diff(held, axis=1)), posinf=0.0)
        best = np.max(np.maximum(held[:, 1:], held[:, :-1]) + rise, axis=1)
        return np.where(np.any(ended, axis=1), np.inf, best), times[held.argmax(axis=1)]
    kept = np.where(ended, np.inf, -broken)
    return kept.min(axis=1), times[kept.argmin(axis=1)]


class _Search:
    """A search in progress over points of a unit cube: a start, then disturbances by period."""

    def __init__(
        self,
        plant: Plant,
        actor: BatchActor,
        question: Question,
        box: tuple[Box, ...],
        effort: Effort,
    ) -> None:
        self.plant, self.actor, self.question = plant, actor, question
        self.box, self.effort = box, effort
        self.noise = tuple((one.low, one.high) for one in plant.disturbances)
        self.length = len(periods(plant, question.time))
        self.width = len(box) + self.length * len(self.noise)
        self.generator = np.random.default_rng(effort.seed)
        self.points = np.zeros((0, self.width))
        self.margins = np.zeros(0)
        self.worst: Attempt | None = None
        self.trajectories = self.left_model = 0

    @property
    def refuted(self) -> bool:
        return self.worst is not None and self.worst.margin < -SURE

    def first_points(self) -> Array:
        """Return corners, each with every disturbance at one end throughout, and random points."""
        sides = len(self.box) + len(self.noise)
        if 2**sides <= MOST_CORNERS:
            ends = np.array(list(product((0.0, 1.0), repeat=sides)))
        else:
            ends = self.generator.integers(0, 2, (MOST_CORNERS, sides)).astype(np.float64)
        corners = self._spread(ends)
        drawn = self.generator.uniform(size=(self.effort.samples, self.width))
        bang = drawn.copy()  # disturbances that jump between their ends are the worst ones
        bang[:, len(self.box) :] = np.round(bang[:, len(self.box) :])
        return np.concatenate([corners, drawn, bang if self.noise else drawn[:0]])

    def next_points(self) -> Array:
        """Return points around the worst so far, in the spread that those have."""
        count = max(4, int(ELITE * self.effort.size))
        best = self.points[np.argsort(self.margins)[:count]]
        spread = best.std(axis=0) + 0.02
        parents = best[self.generator.integers(0, count, self.effort.size)]
        moved: Array = parents + self.generator.normal(size=parents.shape) * spread
        return np.clip(moved, 0.0, 1.0)

    def play(self, points: Array) -> None:
        """Let trajectories go from points, and remember the worst of them."""
        starts = within(self.box, points[:, : len(self.box)])
        shape = (len(points), self.length, len(self.noise))
        noise = np.zeros(shape)
        if self.noise:
            parts = points[:, len(self.box) :].reshape(-1, len(self.noise))
            noise = within(self.noise, parts).reshape(shape)
        went = simulate(
            self.plant,
            self.actor,
            starts,
            self.question.time,
            disturbances=noise,
            samples=self.effort.per_period,
            tolerance=ROUGH,
        )
        kept, when = kept_by(self.question, went)
        self.trajectories += len(points)
        self.left_model += int((~np.isfinite(went.states).all(axis=(1, 2))).sum())
        self.points = np.concatenate([self.points, points])
        self.margins = np.concatenate([self.margins, kept])
        place = int(kept.argmin())
        if self.worst is None or kept[place] < self.worst.margin:
            self.worst = Attempt(
                tuple(starts[place].tolist()),
                tuple(tuple(row) for row in noise[place].tolist()),
                float(kept[place]),
                float(when[place]),
            )

    def result(self) -> Falsification:
        assert self.worst is not None  # play has been called
        return Falsification(self.worst, self.refuted, self.trajectories, self.left_model)

    def _spread(self, ends: Array) -> Array:
        """Return corners of starts and disturbances with the latter repeated for every period."""
        noise = np.tile(ends[:, None, len(self.box) :], (1, self.length, 1))
        return np.concatenate([ends[:, : len(self.box)], noise.reshape(len(ends), -1)], axis=1)
