"""Who plays the episodes: a task's `EpisodePool`, asked for returns or for what was observed."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.envs.episodes import EpisodePool, Job, Player
from icct.envs.episodes import returns as play_returns
from icct.envs.task import Task
from icct.policy import Policy
from icct.polish.compiled import CompiledActor

Table = NDArray[np.float64]
Question = tuple[Policy, Sequence[int]]  # a policy, and the seeds of the episodes to play

PIECES = 3  # parts of the work for each worker: small enough to end together


class Game(Protocol):
    """What the search asks for; a task's pool, or in tests a function."""

    def returns(self, questions: Sequence[Question]) -> list[list[float]]:
        """Return the return of each episode of each question."""
        ...

    def observations(self, policy: Policy, seeds: Sequence[int]) -> Table:
        """Return all that the policy sees in these episodes, (steps, features)."""
        ...


class Pool(Protocol):
    """Who plays jobs: processes of this machine, or a cluster."""

    workers: int

    def answers(self, jobs: Sequence[Job]) -> list[Any]:
        """Return what each job gives, in their order."""
        ...

    def close(self) -> None:
        """Stop the workers."""
        ...


# A task, and what is called now and then and may end the game → who plays it.
MakePool = Callable[[Task, Callable[[], None]], Pool]


class TaskGame:
    """A task, played by worker processes; one worker plays in this process.

    Args:
        task: The task.
        workers: How many.
        check: Called now and then between episodes; what it raises ends the game.
    """

    def __init__(self, task: Task, workers: int, check: Callable[[], None] | None = None) -> None:
        self._pool: Pool = EpisodePool(task, workers, check=check)

    @classmethod
    def played_by(cls, pool: Pool) -> "TaskGame":
        """Return a game that a pool plays."""
        game = cls.__new__(cls)
        game._pool = pool
        return game

    def returns(self, questions: Sequence[Question]) -> list[list[float]]:
        """Return the return of each episode of each question."""
        total = sum(len(seeds) for _, seeds in questions)
        size = max(1, total // (self._pool.workers * PIECES))
        pieces = [
            (number, seeds[start : start + size])
            for number, (_, seeds) in enumerate(questions)
            for start in range(0, len(seeds), size)
        ]
        jobs = [Job(compiled_returns, questions[number][0], seeds) for number, seeds in pieces]
        found: list[list[float]] = [[] for _ in questions]
        for (number, _), answer in zip(pieces, self._pool.answers(jobs), strict=True):
            found[number] += answer
        return found

    def observations(self, policy: Policy, seeds: Sequence[int]) -> Table:
        """Return all that the policy sees in these episodes, (steps, features)."""
        jobs = [Job(observations, policy, [seed]) for seed in seeds]
        return np.concatenate(self._pool.answers(jobs))

    def close(self) -> None:
        """Stop the workers and close the simulators."""
        self._pool.close()


def compiled_returns(player: Player, policy: Policy, seeds: Sequence[int]) -> list[float]:
    """Return the return of each episode; the policy is compiled where it plays."""
    return play_returns(player, CompiledActor(policy), seeds)


def observations(player: Player, policy: Policy, seeds: Sequence[int]) -> Table:
    """Return what the policy sees in these episodes."""
    recorder = Recorder(policy)
    for seed in seeds:
        player.play(recorder, seed)
    return np.array(recorder.seen, dtype=np.float64)


class Recorder:
    """A policy that remembers what it saw."""

    def __init__(self, policy: Policy) -> None:
        self._act = CompiledActor(policy).act
        self.seen: list[ArrayLike] = []

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Act as the policy does."""
        self.seen.append(observation)
        return self._act(observation)
