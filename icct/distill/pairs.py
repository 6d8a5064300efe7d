"""What a teacher would do where somebody drives: (observation, action) pairs from episodes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.envs.actor import Actor
from icct.envs.episodes import Episode, EpisodePool, Job, Player
from icct.errors import ConfigError
from icct.evaluate import Progress
from icct.seeds import episode_seed


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


Importance = Callable[[Pairs], NDArray[np.float64]]  # what an error costs at each pair, (n,)


def drawn(pairs: Pairs, costs: NDArray[np.float64], seed: Sequence[int]) -> Pairs:
    """Return as many pairs, drawn in proportion to what an error costs there; some come twice."""
    costs = np.asarray(costs, dtype=np.float64)
    if costs.shape != (len(pairs),):
        raise ConfigError(f"costs of shape {costs.shape}, expected one for each of {len(pairs)}.")
    if not np.isfinite(costs).all() or (costs < 0).any() or not costs.any():
        raise ConfigError("costs of errors must be finite, not negative, and not all 0.")
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(pairs), len(pairs), p=costs / costs.sum()))
    return Pairs(pairs.observations[rows], pairs.actions[rows])


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


def lesson(
    player: Player, actors: tuple[Actor, Actor], seeds: Sequence[int]
) -> tuple[list[Episode], Pairs]:
    """Return the episodes of (teacher, student) and the pairs from them, in order."""
    taught = Lesson(*actors)
    played = [player.play(taught, seed) for seed in seeds]
    return played, Pairs(np.stack(taught.observations), np.stack(taught.actions))


def collect(
    teacher: Actor,
    student: Actor,
    pool: EpisodePool,
    *,
    episodes: int,
    seed: int,
    progress: Progress | None = None,
) -> tuple[Pairs, list[Episode]]:
    """Return the teacher's actions in episodes that the student drives, and these episodes.

    With the teacher as its own student these are the pairs of plain imitation. Both are the same
    with any number of workers.
    """
    if hasattr(teacher, "env_options"):
        raise ConfigError(
            "This teacher leaves the driving to the simulator: there is no action to imitate."
        )
    seeds = [episode_seed(seed, index) for index in range(episodes)]
    found: list[tuple[list[Episode], Pairs] | None] = [None] * episodes
    jobs = [Job(lesson, (teacher, student), [own]) for own in seeds]
    for done, (place, answer) in enumerate(pool.finished(jobs), start=1):
        found[place] = answer
        if progress is not None:
            progress(done, episodes)
    parts = [answer for answer in found if answer is not None]
    pairs = Pairs(
        np.concatenate([part.observations for _, part in parts]),
        np.concatenate([part.actions for _, part in parts]),
    )
    return pairs, [episode for played, _ in parts for episode in played]
