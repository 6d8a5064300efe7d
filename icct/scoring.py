"""Evaluation beside other work: actors go to processes of their own, scores come back later.

Training never waits for a score. Every evaluation runs fresh episodes whose seeds no training
episode has, and chooses the best checkpoint on them. Never imports torch: its processes would.
"""

from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

from icct.envs.catalog import Task, find_task
from icct.envs.drivers import Actor
from icct.envs.worker import Worker
from icct.evaluate import EpisodeRunner, episode_seed

SCORING_SEED = 1_000_000  # apart from the seeds people give to `icct evaluate`


@dataclass
class Score:
    """One evaluation of one member; `returns` is empty until it is done."""

    group: int
    member: int
    step: int
    actor: Actor
    episodes: int
    returns: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """The mean return."""
        return sum(self.returns) / len(self.returns)


class ScoringRunner:
    """The handler in a scoring process: plays the episodes of whatever actor it is given."""

    def __init__(self, task: str, options: dict[str, str]) -> None:
        self.task, self.options = find_task(task), options
        self.runner: EpisodeRunner | None = None

    def __call__(self, request: tuple[Actor, list[int]]) -> list[float]:
        """Return the return of each episode of (actor, seeds)."""
        actor, seeds = request
        if self.runner is None:
            self.runner = EpisodeRunner(actor, self.task, self.options)
        self.runner.actor = actor
        return [self.runner.run(0, seed).total_reward for seed in seeds]

    def close(self) -> None:
        """Close the environment."""
        if self.runner is not None:
            self.runner.close()


class ScoringPool:
    """Processes that play evaluation episodes of one task."""

    def __init__(self, task: Task, workers: int, options: dict[str, str] | None = None) -> None:
        self.task, self.options = task, options or {}
        self.workers = workers
        self.pending: list[Score] = []
        self._queue: deque[tuple[Score, list[int]]] = deque()
        self._idle: list[Worker] = []
        self._busy: dict[Any, tuple[Worker, Score]] = {}

    def submit(self, score: Score, seed: int, number: int) -> None:
        """Ask for an evaluation: number `number` of the member with this seed."""
        first = number * score.episodes
        places = range(first, first + score.episodes)
        self.pending.append(score)
        self._queue.append((score, [episode_seed(SCORING_SEED + seed, i) for i in places]))
        self._hand_out()

    def collect(self, timeout_s: float = 0.0) -> list[Score]:
        """Return the evaluations that are complete, in the order they were asked for."""
        for connection in wait(list(self._busy), timeout_s) if self._busy else ():
            worker, score = self._busy.pop(connection)
            score.returns = worker.answer()
            self._idle.append(worker)
        self._hand_out()
        finished = []
        while self.pending and self.pending[0].returns:
            finished.append(self.pending.pop(0))
        return finished

    def close(self) -> None:
        """Stop the processes."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy.values())]:
            worker.close()
        self._idle, self._busy = [], {}

    def _hand_out(self) -> None:
        while self._queue and (self._idle or len(self._busy) < self.workers):
            if not self._idle:
                worker = Worker(self.task.name, ScoringRunner, self.task.name, self.options)
                worker.answer()
                self._idle.append(worker)
            worker = self._idle.pop()
            score, seeds = self._queue.popleft()
            worker.doing = f"{self.task.name}, evaluation at step {score.step}, seeds {seeds}"
            worker.ask((score.actor, seeds))
            self._busy[worker.connection] = (worker, score)
