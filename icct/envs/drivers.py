"""Scripted drivers: what a policy should beat, and what shows that a task is built right.

Each is a value with `act(observation) -> action`, made from a text such as
`driver:constant-speed=3.5`. They see what a policy sees, except `driver:none`, which runs the task
with the option that leaves the ego to SUMO.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.envs.actor import Actor
from icct.envs.catalog import LANE_KEEPING, MULTI_LANE_RING
from icct.envs.sumo.scenario import (
    NO_LEADER_GAP_M,
    STEP_S,
    VEHICLE_LENGTH_M,
    flow_acceleration,
)
from icct.envs.task import Task
from icct.errors import TaskError, did_you_mean

PREFIX = "driver:"
# Steering per metre beside the lane and per radian off its heading: 497 of 500.
LATERAL_GAIN = 0.2
HEADING_GAIN = 1.2

Values = NDArray[np.float64]


@dataclass(frozen=True)
class NoCommand:
    """The ego is left to SUMO's own driver model; its action is never used."""

    task: Task
    env_options = {"ego": "sumo"}  # noqa: RUF012  # a class constant, not a field

    def __post_init__(self) -> None:
        _need_traffic(self.task, "none")

    def act(self, observation: ArrayLike) -> Values:
        """Return zeros, which the task ignores."""
        return np.zeros(len(self.task.actions))


@dataclass(frozen=True)
class ConstantSpeed:
    """The ego drives at one speed, as far as its limits and the traffic allow."""

    task: Task
    speed_mps: float

    def __post_init__(self) -> None:
        _need_traffic(self.task, "constant-speed")

    def act(self, observation: ArrayLike) -> Values:
        """Return the acceleration that reaches the speed in one step, and no lane change."""
        action = np.zeros(len(self.task.actions))
        action[0] = (self.speed_mps - _view(self.task, observation).speeds[-1]) / STEP_S
        return _within(action, self.task)


@dataclass(frozen=True)
class Weave:
    """The ego holds one speed and asks for the other lane in every step."""

    task: Task
    speed_mps: float

    def __post_init__(self) -> None:
        if self.task.road is None or self.task.road.lanes < 2:
            raise TaskError(f"driver:weave needs two lanes: task {MULTI_LANE_RING.name}.")

    def act(self, observation: ArrayLike) -> Values:
        """Return the acceleration that holds the speed, and the other lane."""
        view = _view(self.task, observation)
        change = 1.0 if view.lanes[-1] < 0.25 else -1.0  # 0 is the right lane, 0.5 the left
        return _within([(self.speed_mps - view.speeds[-1]) / STEP_S, change], self.task)


@dataclass(frozen=True)
class Idm:
    """The ego drives like the human cars, without their noise."""

    task: Task

    def __post_init__(self) -> None:
        _need_traffic(self.task, "idm")

    def act(self, observation: ArrayLike) -> Values:
        """Return the acceleration of the intelligent driver model behind the car in front."""
        view = _view(self.task, observation)
        ahead_m = (view.positions_m[:-1] - view.positions_m[-1]) % view.length_m
        ahead_m = np.where(view.lanes[:-1] == view.lanes[-1], ahead_m, np.inf)
        leader = int(ahead_m.argmin())
        gap_m = float(ahead_m[leader]) - VEHICLE_LENGTH_M
        action = np.zeros(len(self.task.actions))
        leader_speed = view.speeds[leader] if gap_m < NO_LEADER_GAP_M else None
        action[0] = flow_acceleration(view.speeds[-1], gap_m, leader_speed)
        return _within(action, self.task)


@dataclass(frozen=True)
class LinearSteering:
    """Steers against the distance from the lane's centre and the angle to it."""

    task: Task

    def __post_init__(self) -> None:
        if self.task.name != LANE_KEEPING.name:
            raise TaskError(f"driver:linear-steering is for task {LANE_KEEPING.name}.")

    def act(self, observation: ArrayLike) -> Values:
        """Return the steering of a linear law on lateral and heading error."""
        values = np.asarray(observation, dtype=np.float64)
        index = self.task.feature_index
        beside_m = values[index("lateral_position")] - values[index("lane_position")]
        off = values[index("heading")] - values[index("lane_heading")]
        return _within([-LATERAL_GAIN * beside_m - HEADING_GAIN * off], self.task)


@dataclass
class Random:
    """Acts uniformly at random within the limits; each episode has its own generator."""

    task: Task
    generator: np.random.Generator = field(default_factory=np.random.default_rng)

    def begin(self, seed: int) -> None:
        """Start an episode: the same seed gives the same actions."""
        self.generator = np.random.default_rng((seed, 1))  # not the stream of the task itself

    def act(self, observation: ArrayLike) -> Values:
        """Return an action drawn uniformly from the action space."""
        actions = self.task.actions
        return self.generator.uniform([a.low for a in actions], [a.high for a in actions])


@dataclass(frozen=True)
class ConstantAction:
    """Does the same in every step."""

    task: Task
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) != len(self.task.actions):
            names = ", ".join(action.name for action in self.task.actions)
            raise TaskError(
                f"driver:constant-action has {len(self.values)} numbers, but {self.task.name} "
                f"takes {len(self.task.actions)}: {names}."
            )

    def act(self, observation: ArrayLike) -> Values:
        """Return the action."""
        return np.array(self.values)


@dataclass(frozen=True)
class _View:
    """A traffic observation in metres and metres per second, the ego last."""

    speeds: list[float]
    positions_m: Values
    lanes: Values
    length_m: float


# name → (what makes it, how many numbers it takes: None for one per action)
DRIVERS: dict[str, tuple[Callable[..., Any], int | None]] = {
    "none": (NoCommand, 0),
    "constant-speed": (ConstantSpeed, 1),
    "weave": (Weave, 1),
    "idm": (Idm, 0),
    "linear-steering": (LinearSteering, 0),
    "random": (Random, 0),
    "constant-action": (lambda task, *values: ConstantAction(task, values), None),
}


def find_driver(text: str, task: Task) -> Actor:
    """Return the driver of a text such as `driver:weave=5` or `driver:constant-action=3,-1`."""
    name, equals, rest = text.removeprefix(PREFIX).partition("=")
    if name not in DRIVERS:
        raise TaskError(
            f"There is no driver {name!r}.{did_you_mean(name, DRIVERS)} "
            f"Known are {', '.join(DRIVERS)}."
        )
    make, wanted = DRIVERS[name]
    try:
        numbers = [float(number) for number in rest.split(",")] if equals else []
    except ValueError:
        raise TaskError(f"{text}: {rest!r} is not a number or a list of numbers.") from None
    if not all(np.isfinite(numbers)):
        raise TaskError(f"{text}: every number must be finite.")
    if wanted is not None and len(numbers) != wanted:
        form = f"{PREFIX}{name}" + "=NUMBER" * wanted
        raise TaskError(f"{text}: expected {form}, found {len(numbers)} numbers.")
    driver: Actor = make(task, *numbers)
    return driver


def _need_traffic(task: Task, name: str) -> None:
    if task.road is None:
        raise TaskError(f"driver:{name} is for the traffic tasks, and {task.name} is not one.")


def _view(task: Task, observation: ArrayLike) -> _View:
    assert task.road is not None  # the drivers that look have checked
    values = np.asarray(observation, dtype=np.float64)
    vehicles = task.road.humans + 1
    lanes = values[2 * vehicles :]
    return _View(
        speeds=(values[:vehicles] * task.road.speed_limit_mps).tolist(),
        positions_m=values[vehicles : 2 * vehicles] * task.road.length_m,
        lanes=lanes if len(lanes) else np.zeros(vehicles),
        length_m=task.road.length_m,
    )


def _within(action: ArrayLike, task: Task) -> Values:
    limits = np.array([(a.low, a.high) for a in task.actions])
    return np.clip(np.asarray(action, dtype=np.float64), limits[:, 0], limits[:, 1])
