"""What a teacher would do where somebody drives: (observation, action) pairs from episodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.envs.drivers import Actor
from icct.errors import ConfigError
from icct.evaluate import Evaluation, Progress, evaluate


@dataclass(frozen=True)
class Pairs:
    """Observations (n, features), as the task gives them, and a teacher's actions (n, actions)."""

    observations: NDArray[np.float32]
    actions: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.observations)

    def joined(self, others: "Pairs") -> "Pairs":
        """Return these pairs and others after them."""
        return Pairs(
            np.concatenate((self.observations, others.observations)),
            np.concatenate((self.actions, others.actions)),
        )


class Lesson:
    """An actor for `evaluate`: the student drives, and the teacher says what it would have done.

    The teacher is asked in every step, in order, so that one with a memory can teach as well.
    """

    def __init__(self, teacher: Actor, student: Actor) -> None:
        self.teacher, self.student = teacher, student
        self.observations: list[NDArray[np.float32]] = []
        self.actions: list[NDArray[np.float64]] = []

    def begin(self, seed: int) -> None:
        """Tell both that an episode starts."""
        for actor in {id(actor): actor for actor in (self.teacher, self.student)}.values():
            if hasattr(actor, "begin"):
                actor.begin(seed)

    def act(self, observation: ArrayLike) -> ArrayLike:
        """Return the student's action, and note the teacher's."""
        told = np.asarray(self.teacher.act(observation), dtype=np.float64)
        self.observations.append(np.array(observation, dtype=np.float32))
        self.actions.append(told)
        return told if self.student is self.teacher else self.student.act(observation)


def collect(
    teacher: Actor,
    student: Actor,
    task: str,
    *,
    episodes: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> tuple[Pairs, Evaluation]:
    """Return the teacher's actions in episodes that the student drives, and what those returned.

    With the teacher as its own student these are the pairs of plain imitation.
    """
    if hasattr(teacher, "env_options"):
        raise ConfigError(
            "This teacher leaves the driving to the simulator: there is no action to imitate."
        )
    lesson = Lesson(teacher, student)
    driven = evaluate(
        lesson, task, episodes=episodes, seed=seed, options=options, progress=progress
    )
    return Pairs(np.stack(lesson.observations), np.stack(lesson.actions)), driven
