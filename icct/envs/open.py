"""The frame around anybody's Gymnasium environment: flat observations and checks."""

import math
from typing import Any

import gymnasium
import numpy as np

from icct.envs.base import Frame, Observation, StepResult, TaskEnv
from icct.envs.source import blamed_on
from icct.envs.spaces import action_numbers, flat_observation, observation_numbers
from icct.envs.stage import Poses, Stage, stage_of
from icct.envs.task import Task
from icct.errors import TaskError

LARGEST_SEED = 2**31  # simulators that hand a seed to C take no larger one


class OpenEnv(TaskEnv):
    """An environment that somebody else wrote, as a task.

    What it returns is checked, since code that we do not know made it. An episode ends where the
    environment ends it, and at the task's horizon.
    """

    def __init__(self, task: Task, inner: gymnasium.Env[Any, Any], render_mode: str | None) -> None:
        super().__init__(task, render_mode=render_mode)
        self._inner = inner
        self._seed: int | None = None
        self._step = 0
        self._check_sizes()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same episode."""
        self._seed, self._step = seed, 0
        return super().reset(seed=seed, options=options)

    def close(self) -> None:
        """Close the environment; may be called twice."""
        self._steps_left = 0
        with blamed_on(f"{self.task.name}: close"):
            self._inner.close()

    def stage(self) -> Stage | None:
        """Return what the environment says stands still, where it has such a method."""
        with blamed_on(f"{self._where}: stage()"):
            return stage_of(self._inner.unwrapped)

    def poses(self) -> Poses:
        """Return where the environment says its bodies are."""
        with blamed_on(f"{self._where}: poses()"):
            poses: Poses = self._inner.unwrapped.poses()  # type: ignore[attr-defined]
            return {str(name): [float(value) for value in pose] for name, pose in poses.items()}

    def _begin(self) -> Observation:
        seed = self._seed
        if seed is not None and seed >= LARGEST_SEED:
            seed = int(np.random.SeedSequence(seed).generate_state(1)[0]) % LARGEST_SEED
        with blamed_on(self._where):
            answer = self._inner.reset(seed=seed)
        observation, _ = self._unpacked(answer, ("observation", "info"))
        return self._flat(observation)

    def _advance(self, values: list[float]) -> StepResult:
        self._step += 1
        space = self._inner.action_space
        with blamed_on(self._where):
            answer = self._inner.step(np.array(values, dtype=space.dtype).reshape(space.shape))
        observation, reward, terminated, truncated, info = self._unpacked(
            answer, ("observation", "reward", "terminated", "truncated", "info")
        )
        key = self.task.collision
        told = {} if key is None else {"collision": bool(info.get(key, False))}
        return (
            self._flat(observation),
            self._finite(reward),
            bool(terminated),
            bool(truncated),
            told,
        )

    def _draw(self) -> Frame:
        with blamed_on(self._where):
            frame: Any = self._inner.render()
        if not isinstance(frame, np.ndarray) or frame.ndim != 3:
            raise TaskError(f"{self._where}: render gave no picture, expected an RGB array.")
        picture: Frame = frame
        return picture

    @property
    def _where(self) -> str:
        call = f"step {self._step}" if self._step else "reset"
        return f"{self.task.name}, {call} of the episode with seed {self._seed}"

    def _flat(self, observation: Any) -> Observation:
        return flat_observation(self._inner.observation_space, observation, self._where)

    def _unpacked(self, answer: Any, expected: tuple[str, ...]) -> tuple[Any, ...]:
        if not isinstance(answer, tuple) or len(answer) != len(expected):
            found = f"{len(answer)} values" if isinstance(answer, tuple) else type(answer).__name__
            raise TaskError(
                f"{self._where} returned {found}, expected ({', '.join(expected)}) as Gymnasium "
                "has it."
            )
        if not isinstance(answer[-1], dict):
            raise TaskError(f"{self._where}: info is {type(answer[-1]).__name__}, expected a dict.")
        return answer

    def _finite(self, reward: Any) -> float:
        try:
            value = float(reward)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise TaskError(f"{self._where}: the reward is {reward!r}, expected a finite number.")
        return value

    def _check_sizes(self) -> None:
        """Refuse an environment that is not the one the task describes."""
        name, inner = self.task.name, self._inner
        for kind, found, declared in (
            ("features", observation_numbers(inner.observation_space, name), self.task.features),
            ("actions", action_numbers(inner.action_space, name), self.task.actions),
        ):
            if len(found) != len(declared):
                raise TaskError(
                    f"{name} declares {len(declared)} {kind}, but its environment has {len(found)}."
                )
