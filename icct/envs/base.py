"""What all environments share: spaces from the task, checked actions, the horizon.

Subclasses bring the simulator. There is no wrapper around the result: `step` is called hundreds
of millions of times in training, and every layer costs.
"""

from abc import abstractmethod
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from icct.envs.stage import Poses, Stage
from icct.envs.task import Task
from icct.errors import ConfigError, TaskError

Observation = NDArray[np.float32]
Frame = NDArray[np.uint8]
Space = gymnasium.spaces.Space[NDArray[np.float32]]
DEFAULT_FPS = 25
StepResult = tuple[Observation, float, bool, bool, dict[str, Any]]


def observation_box(task: Task) -> Space:
    """Return the observation space: no tighter than the bounds that a feature is sure to keep.

    Bounds of origin `space` are declared as they are. Others widen the range that the simulator
    declares for all, since `measured` ones can be left and `physical` ones can be wider.
    """
    declared = []
    for feature in task.features:
        low, high = feature.low, feature.high
        if feature.origin != "space":
            low, high = min(low, task.space[0]), max(high, task.space[1])
        declared.append((low, high))
    low, high = np.array(declared, dtype=np.float32).T
    box: Space = gymnasium.spaces.Box(low, high, dtype=np.float32)
    return box


def action_box(task: Task) -> Space:
    """Return the action space: the raw limits of the task's actions."""
    limits = [(action.low, action.high) for action in task.actions]
    low, high = np.array(limits, dtype=np.float32).T
    box: Space = gymnasium.spaces.Box(low, high, dtype=np.float32)
    return box


def frames_per_s(task: Task) -> int:
    """Return how many steps of a task a film shows in a second: those of real time, if known."""
    return DEFAULT_FPS if task.step_s is None else max(1, round(1 / task.step_s))


class TaskEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """A Gymnasium environment of one task.

    Observations are float32, whatever precision the simulator has. Actions are refused with a
    `TaskError` when they have the wrong shape or a number is not finite, and clipped to the action
    space otherwise. The episode is truncated at the task's horizon. Stepping an episode that has
    ended is an error.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": DEFAULT_FPS}  # noqa: RUF012  # as Gymnasium has it

    def __init__(self, task: Task, *, render_mode: str | None = None, **options: Any) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(
                f"{task.name}: render_mode is {render_mode!r}, expected one of None, rgb_array."
            )
        self.task = task = task.with_options(options)
        self.observation_space = observation_box(task)
        self.action_space = action_box(task)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": frames_per_s(task)}
        self._shape = (len(task.actions),)
        self._limits = tuple((action.low, action.high) for action in task.actions)
        self._steps_left = 0  # of the running episode; 0: none is running

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same episode. `options` has no keys."""
        if options:
            raise ConfigError(
                f"{self.task.name}: reset has no option {next(iter(options))!r}; "
                "options are given to icct.envs.make."
            )
        super().reset(seed=seed)
        self._steps_left = 0
        observation = self._begin()
        self._steps_left = self.task.horizon
        return observation, {}

    def step(self, action: NDArray[np.float32]) -> StepResult:
        """Act for one step."""
        values = self._checked(action)
        observation, reward, terminated, truncated, info = self._advance(values)
        self._steps_left -= 1
        truncated = (truncated or not self._steps_left) and not terminated
        if terminated or truncated:
            self._steps_left = 0
        return observation, reward, terminated, truncated, info

    def render(self) -> Frame | None:
        """Return a picture of the present state, (height, width, 3), or None without a mode."""
        return None if self.render_mode is None else self._draw()

    def stage(self) -> Stage | None:
        """Return what stands still in the running episode; None where there are only pictures."""
        return None

    def poses(self) -> Poses:
        """Return where the bodies of the stage are."""
        return {}

    @abstractmethod
    def _begin(self) -> Observation:
        """Start an episode, from `np_random` or its seed, and return its first observation."""

    @abstractmethod
    def _advance(self, values: list[float]) -> StepResult:
        """Act for one step; the horizon is ours to count."""

    @abstractmethod
    def _draw(self) -> Frame:
        """Return a picture of the present state."""

    def _checked(self, action: Any) -> list[float]:
        """Return the action as finite numbers within the limits, or refuse it."""
        if not self._steps_left:
            raise TaskError(f"{self.task.name}: there is no running episode; call reset first.")
        if type(action) is not np.ndarray:
            action = self._converted(action)
        if action.shape != self._shape or action.dtype.kind not in "fiu":
            raise TaskError(
                f"{self.task.name}: the action has shape {action.shape} and type {action.dtype}, "
                f"expected {self._shape} numbers: {', '.join(a.name for a in self.task.actions)}."
            )
        values: list[float] = action.tolist()
        for position, (low, high) in enumerate(self._limits):
            value = values[position]
            if not low <= value <= high:
                if value - value != 0:  # only NaN and the infinities fail this
                    raise TaskError(
                        f"{self.task.name}: {self.task.actions[position].name} is {value}; "
                        "every number of an action must be finite."
                    )
                values[position] = low if value < low else high
        return values

    def _converted(self, action: Any) -> NDArray[Any]:
        try:
            return np.asarray(action)
        except ValueError as error:  # such as [1, [2]]
            raise TaskError(f"{self.task.name}: the action is not numbers ({error}).") from None
