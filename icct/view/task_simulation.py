"""Any task as a simulation: drawn from its stage, else by its pictures, else by nothing at all."""

from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icct.envs.base import TaskEnv
from icct.envs.source import open_env
from icct.envs.stage import Stage
from icct.envs.task import Task
from icct.errors import TaskError
from icct.policy import Policy
from icct.view.show import Show
from icct.view.simulation import Moment

if TYPE_CHECKING:
    from icct.verify import Property

JPEG_QUALITY = 80
WIDEST = 640  # pixels of a picture


def task_show(policy: Policy, task: Task, properties: "Sequence[Property]" = ()) -> Show:
    """Return a policy in the environment of a task, to be watched or recorded."""
    task.check_fits(policy)
    return Show(
        policy,
        partial(TaskSimulation, task),
        task.title,
        step_s=task.step_s,
        horizon=task.horizon,
        properties=properties,
    )


class TaskSimulation:
    """The environment of a task, to be watched."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._env = _opened(task)
        self._stage: Stage | None = None

    def reset(self, seed: int) -> Moment:
        """Start an episode."""
        observation, _ = self._env.reset(seed=seed)
        self._stage = self._env.stage()
        return self._moment(observation, None, None)

    def step(self, action: NDArray[np.float64]) -> Moment:
        """Act for one step."""
        answer = self._env.step(action)  # type: ignore[arg-type]  # it takes any floats
        observation, reward, terminated, truncated, info = answer
        ended = "terminated" if terminated else "truncated" if truncated else None
        if ended and info.get("collision"):
            ended = "collision"
        return self._moment(observation, float(reward), ended)

    def stage(self) -> Stage | None:
        """Return what stands still, where the environment says so."""
        return self._stage

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def _moment(self, observation: Any, reward: float | None, ended: str | None) -> Moment:
        if self._stage is not None:
            return Moment(observation, reward, ended, poses=self._env.poses())
        picture = self._env.render()
        return Moment(observation, reward, ended, frame=None if picture is None else jpeg(picture))


def _opened(task: Task) -> TaskEnv:
    """Return the environment with pictures if it has them; many do not take a render mode."""
    try:
        return open_env(task, "rgb_array")
    except TaskError:
        return open_env(task, None)


def jpeg(picture: NDArray[np.uint8]) -> bytes:
    """Return a picture of shape (height, width, 3) as a JPEG."""
    from PIL import Image

    image = Image.fromarray(picture)
    if image.width > WIDEST:
        image = image.resize((WIDEST, round(image.height * WIDEST / image.width)))
    content = BytesIO()
    image.save(content, "JPEG", quality=JPEG_QUALITY)
    return content.getvalue()
