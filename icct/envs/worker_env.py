"""A task in a process of its own: training beside evaluation, several SUMO simulations at once."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from icct.envs.base import (
    Frame,
    Observation,
    StepResult,
    action_box,
    frames_per_s,
    observation_box,
)
from icct.envs.source import open_env
from icct.envs.task import Task
from icct.envs.worker import Worker
from icct.errors import IcctError


class EnvHandler:
    """The environment inside the worker process."""

    def __init__(self, task: Task, render_mode: str | None) -> None:
        self._env = open_env(task, render_mode)

    def __call__(self, request: tuple[str, Any]) -> Any:
        """Answer (what, argument), where what is `step`, `reset` or `render`."""
        what, argument = request
        try:
            if what == "step":
                return None, self._env.step(argument)
            if what == "reset":
                return None, self._env.reset(**argument)
            return None, self._env.render()
        except IcctError as error:  # a refused action ends neither the episode nor the process
            return error, None

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


class WorkerEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """A task's environment that runs in a process of its own and behaves like `make`'s.

    A call that finds the process dead raises a `TaskError` with the task and the episode's seed.
    """

    def __init__(self, task: Task, render_mode: str | None = None) -> None:
        self.task = task
        self.observation_space = observation_box(task)
        self.action_space = action_box(task)
        self.render_mode = render_mode
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": frames_per_s(task)}
        self.worker = Worker(task.name, EnvHandler, task, render_mode)
        self.worker.answer()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same episode."""
        if seed is not None or self._np_random is None:
            super().reset(seed=seed)  # a seed of our own, so that an error can always name it
            seed = self.np_random_seed
        self.worker.doing = f"{self.task.name}, episode after reset(seed={self.np_random_seed})"
        result: tuple[Observation, dict[str, Any]] = self._call(
            "reset", {"seed": seed, "options": options}
        )
        return result

    def step(self, action: NDArray[np.float32]) -> StepResult:
        """Act for one step."""
        result: StepResult = self._call("step", action)
        return result

    def render(self) -> Frame | None:
        """Return a picture of the present state, (height, width, 3), or None without a mode."""
        frame: Frame | None = self._call("render", None)
        return frame

    def close(self) -> None:
        """Stop the process; may be called twice."""
        self.worker.close()

    def _call(self, what: str, argument: Any) -> Any:
        self.worker.ask((what, argument))
        error, value = self.worker.answer()
        if error is not None:
            raise error
        return value
