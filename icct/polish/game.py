"""Who plays the episodes: a task's simulators, kept by worker processes.

The answers come in the order of the questions, and an episode's return depends on its policy and
seed alone, so the number of workers changes nothing but the time. A worker that dies is replaced,
and what it was playing is played again.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import wait
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.envs.catalog import Task
from icct.envs.drivers import Actor
from icct.envs.worker import Worker
from icct.errors import IcctError, TaskError
from icct.evaluate import EpisodeRunner
from icct.policy import Policy
from icct.polish.compiled import CompiledActor

Table = NDArray[np.float64]
Question = tuple[Policy, Sequence[int]]  # a policy, and the seeds of the episodes to play

DEATHS = 5  # of workers in a row, without one answer between, that end the run
LOOK_EVERY_S = 0.5  # at whether somebody wants to stop, while workers play
PIECES = 3  # parts of the work for each worker: small enough to end together


class Game(Protocol):
    """What the search asks for; a task's pool, or in tests a function."""

    def returns(self, questions: Sequence[Question]) -> list[list[float]]:
        """Return the return of each episode of each question."""
        ...

    def observations(self, policy: Policy, seeds: Sequence[int]) -> Table:
        """Return all that the policy sees in these episodes, (steps, features)."""
        ...


class Recorder:
    """A policy that remembers what it saw."""

    def __init__(self, policy: Policy) -> None:
        self._act = CompiledActor(policy).act
        self.seen: list[ArrayLike] = []

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Act as the policy does."""
        self.seen.append(observation)
        return self._act(observation)


class TaskPlayer:
    """The handler in a worker: one simulator that plays whatever policy it is given.

    Args:
        task: The task.
        options: Of the task.
        before_each: Called before each episode; what it raises ends the playing.
    """

    def __init__(
        self, task: Task, options: dict[str, Any], before_each: Callable[[], None] = lambda: None
    ) -> None:
        nobody: Any = None  # until the first request
        self._runner = EpisodeRunner(nobody, task, options)
        self._before_each = before_each

    def __call__(self, request: tuple[str, Policy, Sequence[int]]) -> Any:
        """Answer (what, policy, seeds), where what is `returns` or `observations`."""
        what, policy, seeds = request
        actor: Actor = CompiledActor(policy) if what == "returns" else Recorder(policy)
        self._runner.actor = actor
        returns = []
        for seed in seeds:
            self._before_each()
            returns.append(self._runner.run(0, seed).total_reward)
        return np.array(actor.seen, dtype=np.float64) if isinstance(actor, Recorder) else returns

    def close(self) -> None:
        """Close the simulator."""
        self._runner.close()


class TaskGame:
    """A task, played by worker processes; one worker plays in this process.

    Args:
        task: The task.
        workers: How many.
        options: Of the task.
        check: Called now and then between episodes; what it raises ends the game.
    """

    def __init__(
        self,
        task: Task,
        workers: int,
        options: Mapping[str, Any] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.task, self.workers, self._options = task, workers, dict(options or {})
        self._check = check
        self._alone = TaskPlayer(task, self._options, check) if workers == 1 else None
        self._idle: list[Worker] = []
        self._busy: dict[Any, tuple[Worker, int]] = {}

    def returns(self, questions: Sequence[Question]) -> list[list[float]]:
        """Return the return of each episode of each question."""
        total = sum(len(seeds) for _, seeds in questions)
        size = max(1, total // (self.workers * PIECES))
        pieces = [
            (number, seeds[start : start + size])
            for number, (_, seeds) in enumerate(questions)
            for start in range(0, len(seeds), size)
        ]
        answers = self._answers([("returns", questions[n][0], seeds) for n, seeds in pieces])
        found: list[list[float]] = [[] for _ in questions]
        for (number, _), answer in zip(pieces, answers, strict=True):
            found[number] += answer
        return found

    def observations(self, policy: Policy, seeds: Sequence[int]) -> Table:
        """Return all that the policy sees in these episodes, (steps, features)."""
        return np.concatenate(self._answers([("observations", policy, [s]) for s in seeds]))

    def close(self) -> None:
        """Stop the workers, after what they are playing, and close the simulators."""
        if self._alone is not None:
            self._alone.close()
        for worker, _ in self._busy.values():
            with contextlib.suppress(IcctError):  # nobody wants the answer, or its error
                worker.answer()
        for worker in [*self._idle, *(worker for worker, _ in self._busy.values())]:
            worker.close()
        self._idle, self._busy = [], {}

    def _answers(self, requests: Sequence[tuple[str, Policy, Sequence[int]]]) -> list[Any]:
        if self._alone is not None:
            return [self._alone(request) for request in requests]
        answers: list[Any] = [None] * len(requests)
        waiting, deaths = list(range(len(requests)))[::-1], 0
        while waiting or self._busy:
            while waiting and len(self._busy) < self.workers:
                worker, number = self._idle.pop() if self._idle else self._hire(), waiting.pop()
                try:
                    worker.ask(requests[number])
                    self._busy[worker.connection] = worker, number
                except TaskError:  # it died while it was idle
                    waiting.append(number)
            self._check()
            for connection in wait(list(self._busy), LOOK_EVERY_S):
                worker, number = self._busy.pop(connection)
                try:
                    answers[number] = worker.answer()
                    self._idle.append(worker)
                    deaths = 0
                except TaskError:
                    deaths += 1
                    if not worker.connection.closed or deaths == DEATHS:
                        self._idle.append(worker)  # alive: its player failed
                        self.close()  # no answer of the others may meet a later question
                        raise
                    waiting.append(number)
        return answers

    def _hire(self) -> Worker:
        worker = Worker(self.task.name, TaskPlayer, self.task, self._options)
        worker.answer()  # its simulator is made
        return worker
