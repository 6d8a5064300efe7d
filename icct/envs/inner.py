"""The frame around an environment of another package: our spaces, seeding and horizon."""

from abc import abstractmethod
from typing import Any

import gymnasium
import numpy as np

from icct.envs.base import Frame, Observation, StepResult, TaskEnv
from icct.envs.task import Task


class InnerEnv(TaskEnv):
    """A task whose physics, reward and ending come from an inner Gymnasium environment.

    The inner environment shares our random generator, so that a seed gives exactly the episode
    that it gives there. Time limits and order checks of `gymnasium.make` are not stacked on top:
    the base class counts.
    """

    def __init__(self, task: Task, inner: gymnasium.Env[Any, Any], **options: Any) -> None:
        super().__init__(task, **options)
        self._inner = inner

    def _begin(self) -> Observation:
        self._inner.np_random = self.np_random
        observation, _ = self._inner.reset()
        return self._flat(observation)

    def _advance(self, values: list[float]) -> StepResult:
        observation, reward, terminated, _, _ = self._inner.step(np.array(values))
        return self._flat(observation), float(reward), terminated, False, self._info()

    @abstractmethod
    def _flat(self, observation: Any) -> Observation:
        """Return the inner observation as one flat float32 array of its own."""

    def _info(self) -> dict[str, Any]:
        return {}

    def _draw(self) -> Frame:
        frame: Frame = self._inner.render()  # type: ignore[assignment]
        return frame

    def close(self) -> None:
        """Free what the inner environment holds; may be called twice."""
        self._steps_left = 0
        self._inner.close()
