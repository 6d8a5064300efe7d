"""A plant as a task: episodes of a model that a plant file describes.

`plant:NAME` is one that ships with the package, `plant:FILE.toml` any other. A plant file is data,
not code: a policy or a run may name one and have it opened.
"""

import math
from pathlib import Path

import numpy as np

from icct.envs.base import Frame, Observation, StepResult, TaskEnv
from icct.envs.task import Task
from icct.errors import PlantError, TaskError
from icct.plant.arithmetic import FLOATS
from icct.plant.expression import compiled
from icct.plant.file import PREFIX, read_plant
from icct.plant.integrate import LostError, advance, float_motion
from icct.plant.margin import margin
from icct.plant.plant import Episode, Plant
from icct.plant.question import TIME

NO_PICTURES = "{name} is a plant and has no pictures: look at its features over time."
LARGEST = 1e30  # of an observation, which becomes a float32
TOLERANCE = 1e-9  # of the integrator; a proof's trajectories are integrated better


def plant_task(source: str) -> Task:
    """Return the task of a plant: `plant:NAME`, `plant:FILE.toml` or FILE.toml."""
    plant = read_plant(source)
    episode = _episode(plant)
    named = source.removeprefix(PREFIX)
    lasting = str(Path(named).resolve()) if named.endswith(".toml") else named
    return Task(
        name=plant.name,
        environment=f"{PREFIX}{lasting}",
        features=plant.features,
        actions=plant.actions,
        horizon=episode.horizon,
        step_s=float(plant.period),
        collision="collision" if episode.fails else None,
        summary=plant.summary,
    )


class PlantEnv(TaskEnv):
    """Episodes of a plant: it starts anywhere in its box and goes where its rates lead.

    Actions are held for a period. Disturbances are drawn anew for every period, uniformly from
    their boxes. The reward is the plant file's expression after the step; the step that fails, or
    leaves the guard or the numbers, ends the episode without reward.
    """

    def __init__(self, source: str, *, render_mode: str | None = None) -> None:
        super().__init__(plant_task(source))
        if render_mode is not None:
            raise TaskError(NO_PICTURES.format(name=self.task.name))
        self.plant = read_plant(source)
        self.episode = _episode(self.plant)
        self._moving = float_motion(self.plant)
        self._seen = compiled([one.value for one in self.plant.observations], FLOATS)
        self._reward = compiled((self.episode.reward,), FLOATS)
        self._period = float(self.plant.period)
        self._starts = np.array(self.plant.start, dtype=np.float64)
        noise = self.plant.disturbances
        self._noise = np.array([(one.low, one.high) for one in noise], dtype=np.float64)
        self._noise_names = [one.name for one in noise]
        self._state: list[float] = []
        self._disturbed: dict[str, float] = {}

    @property
    def state(self) -> tuple[float, ...]:
        """The present state, in the order of the plant's states."""
        return tuple(self._state)

    def _begin(self) -> Observation:
        self._state = self.np_random.uniform(self._starts[:, 0], self._starts[:, 1]).tolist()
        return self._observation()

    def _advance(self, values: list[float]) -> StepResult:
        acted = dict(zip((action.name for action in self.plant.actions), values, strict=True))
        held = {**acted, **self._disturbed}
        try:
            self._state = advance(self._moving, self._state, held, self._period, TOLERANCE)
            failed = self._has_failed(acted)
            reward = 0.0 if failed else self._reward({**self._named(), **acted})[0]
        except (LostError, ArithmeticError, ValueError):
            failed, reward = True, 0.0
        if not math.isfinite(reward):
            raise TaskError(f"{self.task.name}: the reward is not a number at {self._place()}.")
        return self._observation(), reward, failed, False, {"collision": failed}

    def _has_failed(self, acted: dict[str, float]) -> bool:
        values = {**self._named(), **self._disturbed}
        seen = zip(self.plant.features, self._seen(values), strict=True)
        values |= acted | {feature.name: value for feature, value in seen}
        values[TIME] = self._period * (self.task.horizon - self._steps_left + 1)
        fails, guard = self.episode.fails, self.plant.guard
        if fails is not None and float(margin(fails.violation, values)) < 0:
            return True  # its violation does not hold, so the condition does
        return guard is not None and float(margin(guard.violation, values)) > 0

    def _observation(self) -> Observation:
        """Return what is seen, with disturbances drawn for the coming period."""
        if self._noise_names:
            drawn = self.np_random.uniform(self._noise[:, 0], self._noise[:, 1]).tolist()
            self._disturbed = dict(zip(self._noise_names, drawn, strict=True))
        try:
            seen = self._seen({**self._named(), **self._disturbed})
        except (ArithmeticError, ValueError):
            seen = [math.nan]
        if not all(abs(value) <= LARGEST for value in seen):  # NaN is not
            raise TaskError(f"{self.task.name}: an observation is not a number at {self._place()}.")
        return np.array(seen, dtype=np.float32)

    def _named(self) -> dict[str, float]:
        return dict(zip(self._moving.names, self._state, strict=True))

    def _place(self) -> str:
        return ", ".join(f"{name} = {value:.4g}" for name, value in self._named().items())

    def _draw(self) -> Frame:
        raise TaskError(NO_PICTURES.format(name=self.task.name))


def _episode(plant: Plant) -> Episode:
    if plant.episode is None:
        raise PlantError(
            f"plant {plant.name} is no task: its file has no [episode] with a horizon and a reward."
        )
    return plant.episode
