"""Evaluation beside training: snapshots go to processes of their own, scores come back later.

Training never waits for a score. Every evaluation runs fresh episodes whose seeds no training
episode has, and chooses the best checkpoint on them.
"""

from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

from icct.envs.catalog import Task, find_task
from icct.envs.worker import Worker
from icct.evaluate import Episode, EpisodeRunner, episode_seed
from icct.learn.snapshot import Snapshot

SCORING_SEED = 1_000_000  # apart from the seeds people give to `icct evaluate`


@dataclass
class Score:
    """One evaluation of one member, as its episodes come in."""

    group: int
    member: int
    step: int
    actor: Snapshot
    episodes: int
    returns: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """The mean return."""
        return sum(self.returns) / len(self.returns)


class ScoringRunner:
    """The handler in a scoring process: plays one episode of whatever actor it is given."""

    def __init__(self, task: str) -> None:
        self.task = find_task(task)
        self.runner: EpisodeRunner | None = None

    def __call__(self, request: tuple[Snapshot, int]) -> Episode:
        """Return the episode of (actor, seed)."""
        actor, seed = request
        if self.runner is None:
            self.runner = EpisodeRunner(actor, self.task, {})
        self.runner.actor = actor
        return self.runner.run(0, seed)

    def close(self) -> None:
        """Close the environment."""
        if self.runner is not None:
            self.runner.close()


class ScoringPool:
    """Processes that play evaluation episodes of one task."""

    def __init__(self, task: Task, workers: int) -> None:
        self.task = task
        self.workers = workers
        self.pending: list[Score] = []
        self._episodes: deque[tuple[Score, int]] = deque()
        self._idle: list[Worker] = []
        self._busy: dict[Any, tuple[Worker, Score]] = {}

    def submit(self, score: Score, seed: int, number: int) -> None:
        """Ask for an evaluation: number `number` of the member with this seed."""
        self.pending.append(score)
        for index in range(score.episodes):
            own = episode_seed(SCORING_SEED + seed, number * score.episodes + index)
            self._episodes.append((score, own))
        self._hand_out()

    def collect(self, timeout_s: float = 0.0) -> list[Score]:
        """Return the evaluations that are complete, in the order they were asked for."""
        for connection in wait(list(self._busy), timeout_s) if self._busy else ():
            worker, score = self._busy.pop(connection)
            score.returns.append(worker.answer().total_reward)
            self._idle.append(worker)
        self._hand_out()
        finished = []
        while self.pending and len(self.pending[0].returns) == self.pending[0].episodes:
            finished.append(self.pending.pop(0))
        return finished

    def close(self) -> None:
        """Stop the processes."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy.values())]:
            worker.close()
        self._idle, self._busy = [], {}

    def _hand_out(self) -> None:
        while self._episodes and (self._idle or len(self._busy) < self.workers):
            if not self._idle:
                worker = Worker(self.task.name, ScoringRunner, self.task.name)
                worker.answer()
                self._idle.append(worker)
            worker = self._idle.pop()
            score, seed = self._episodes.popleft()
            worker.doing = f"{self.task.name}, evaluation at step {score.step}, seed {seed}"
            worker.ask((score.actor, seed))
            self._busy[worker.connection] = (worker, score)
