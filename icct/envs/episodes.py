"""EpisodePool: the one way to play episodes, in this process or in several.

`evaluate`, the scoring beside training, `polish` and `distill` all play through it. What an episode
gives depends on its actor and its seed alone, so the number of workers changes nothing but the
time. A worker that dies is replaced, and what it was playing is played again. Never imports torch:
its processes would, at seconds and hundreds of MB each.
"""

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import numpy as np

from icct.envs.actor import Actor
from icct.envs.source import import_gymnasium, open_env
from icct.envs.task import Task
from icct.envs.worker import Worker
from icct.errors import TaskError
from icct.policy import Policy

if TYPE_CHECKING:
    from icct.envs.base import TaskEnv

DEATHS = 3  # of workers in a row, without one answer between, that end the work
LOOK_EVERY_S = 0.5  # at whether somebody wants to stop, while workers play


@dataclass(frozen=True)
class Episode:
    """One finished episode."""

    seed: int
    total_reward: float
    length: int
    terminated: bool  # else it was truncated at the horizon
    collision: bool
    leaf_visits: tuple[tuple[int, int], ...]  # (leaf, steps), by leaf; empty without a tree
    outside: tuple[int, ...]  # for each feature, observations outside its declared bounds
    observations_outside: int  # observations with at least one feature outside


class Player:
    """One environment of a task in this process; plays any actor.

    Args:
        task: The task.
        render_mode: `rgb_array`, for pictures.
        check: Called before each episode; what it raises ends the playing.
    """

    def __init__(
        self,
        task: Task,
        render_mode: str | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        self.task, self._check = task, check
        self.env = open_env(task, render_mode)

    def play(
        self, actor: Actor, seed: int, watch: "Callable[[TaskEnv, int], None] | None" = None
    ) -> Episode:
        """Return one episode; `watch` is called with the environment before every step."""
        env = self.env
        if self._check is not None:
            self._check()
        if hasattr(actor, "begin"):
            actor.begin(seed)
        observation, _ = env.reset(seed=seed)
        seen, total, terminated, truncated = [], 0.0, False, False
        info: dict[str, Any] = {}
        while not (terminated or truncated):
            seen.append(observation)
            if watch is not None:
                watch(env, len(seen) - 1)
            action = np.asarray(actor.act(observation))
            observation, reward, terminated, truncated, info = env.step(action)
            total += reward
        return self._episode(actor, seed, np.stack(seen), total, terminated, info)

    def _episode(
        self,
        actor: Actor,
        seed: int,
        table: np.ndarray[Any, Any],
        total: float,
        terminated: bool,
        info: dict[str, Any],
    ) -> Episode:
        # In the precision of the observations, so that a value on the bound is not outside.
        features = actor.features if isinstance(actor, Policy) else self.task.features
        low, high = np.array([(f.low, f.high) for f in features], dtype=np.float32).T
        outside = (table < low) | (table > high)
        return Episode(
            seed=seed,
            total_reward=total,
            length=len(table),
            terminated=terminated,
            collision=bool(info.get("collision", False)),
            leaf_visits=_visits(actor, table),
            outside=tuple(outside.sum(axis=0).tolist()),
            observations_outside=int(outside.any(axis=1).sum()),
        )

    def __call__(self, job: "Job") -> Any:
        """Do a job; the handler of a worker."""
        return job.play(self, job.actor, job.seeds)

    def close(self) -> None:
        """Close the environment; may be called twice."""
        self.env.close()


@dataclass(frozen=True)
class Job:
    """Episodes of one actor, and what to make of them."""

    play: Callable[[Player, Any, Sequence[int]], Any]  # defined by a module: it may travel
    actor: Any
    seeds: Sequence[int]


def returns(player: Player, actor: Actor, seeds: Sequence[int]) -> list[float]:
    """Return the return of each episode; the usual `play` of a job."""
    return [player.play(actor, seed).total_reward for seed in seeds]


def episodes(player: Player, actor: Actor, seeds: Sequence[int]) -> list[Episode]:
    """Return the episodes themselves, as the `play` of a job."""
    return [player.play(actor, seed) for seed in seeds]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of some returns and its standard error, NaN for a single one.

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    count, mean = len(values), math.fsum(values) / len(values)
    if count < 2:
        return mean, math.nan
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return mean, math.sqrt(variance / count)


class EpisodePool:
    """Players of one task: one in this process, or some in processes of their own.

    Jobs are handed in by `submit` and come back by `collect`, in any order, with their tickets.

    Args:
        task: What is played.
        workers: How many processes there may be; they are started when there is work.
        here: Play in this process; by default where one worker is enough.
        check: Called now and then between episodes; what it raises ends the playing.
        niceness: Of the processes; at 10 they get a tenth of a core that others want too.
    """

    def __init__(
        self,
        task: Task,
        workers: int,
        here: bool | None = None,
        check: Callable[[], None] | None = None,
        niceness: int = 0,
    ) -> None:
        import_gymnasium(task.name, task.extra or "envs")  # said here rather than in each worker
        self.task, self.workers, self._check = task, workers, check
        self._niceness = niceness
        alone = workers == 1 if here is None else here
        self._alone = Player(task, check=check) if alone else None
        self._tickets = 0
        self._waiting: deque[tuple[int, Job]] = deque()
        self._idle: list[Worker] = []
        self._busy: dict[Any, tuple[Worker, int, Job]] = {}
        self._deaths = 0

    def submit(self, job: Job) -> int:
        """Take a job and return its ticket."""
        self._tickets += 1
        self._waiting.append((self._tickets, job))
        self._hand_out()
        return self._tickets

    def collect(self, timeout_s: float | None = None) -> list[tuple[int, Any]]:
        """Return (ticket, answer) of jobs that are done; wait for one, up to the time given."""
        if self._alone is not None:
            if not self._waiting:
                return []
            ticket, job = self._waiting.popleft()
            return [(ticket, self._alone(job))]
        done = []
        for connection in self._ready(timeout_s):
            worker, ticket, job = self._busy.pop(connection)
            try:
                done.append((ticket, worker.answer()))
            except TaskError:
                if not worker.connection.closed:  # alive: the job itself failed
                    self._idle.append(worker)
                    raise
                self._deaths += 1
                if self._deaths == DEATHS:
                    raise
                self._waiting.appendleft((ticket, job))
            else:
                self._deaths = 0
                self._idle.append(worker)
        self._hand_out()
        return done

    def _ready(self, timeout_s: float | None) -> list[Any]:
        """Return the connections with an answer; wait for one, up to the time given."""
        while self._busy:
            if self._check is not None:
                self._check()
            ready = wait(list(self._busy), LOOK_EVERY_S if timeout_s is None else timeout_s)
            if ready or timeout_s is not None:
                return ready
        return []

    def answers(self, jobs: Sequence[Job]) -> list[Any]:
        """Return what each job gives, in their order."""
        found = dict(self.finished(jobs))
        return [found[place] for place in range(len(jobs))]

    def finished(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Any]]:
        """Yield (place, answer) of each job, as they are done."""
        places = {self.submit(job): place for place, job in enumerate(jobs)}
        try:
            while places:
                for ticket, answer in self.collect():
                    yield places.pop(ticket), answer
        finally:
            if places:  # an error, a stop, or nobody wants the rest
                self._abandon()

    def close(self) -> None:
        """Stop the workers and close the environments; may be called twice."""
        self._abandon()
        for worker in self._idle:
            worker.close()
        self._idle = []
        if self._alone is not None:
            self._alone.close()

    def __enter__(self) -> "EpisodePool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _abandon(self) -> None:
        """Drop all jobs; a worker in the middle of one is stopped."""
        self._waiting.clear()
        for worker, _, _ in self._busy.values():
            worker.close()
        self._busy = {}

    def _hand_out(self) -> None:
        """Give waiting jobs to idle workers, starting them as far as there may be more."""
        while self._waiting and self._alone is None and len(self._busy) < self.workers:
            if not self._idle:
                self._hire(min(self.workers - len(self._busy), len(self._waiting)))
            worker, (ticket, job) = self._idle.pop(), self._waiting.popleft()
            worker.doing = f"{self.task.name}, episodes with seeds {_listed(job.seeds)}"
            try:
                worker.ask(job)
            except TaskError:
                if not worker.connection.closed:  # alive: the job itself cannot travel
                    self._idle.append(worker)
                    raise
                self._waiting.appendleft((ticket, job))  # it died while it was idle
            else:
                self._busy[worker.connection] = worker, ticket, job

    def _hire(self, count: int) -> None:
        """Start some workers at the same time."""
        hired = []
        try:
            for _ in range(count):
                hired.append(Worker(self.task.name, _nice_player, self._niceness, self.task))
            for worker in hired:
                worker.answer()  # its environment is made
        except BaseException:
            for worker in hired:
                worker.close()
            raise
        self._idle += hired


def _nice_player(niceness: int, task: Task) -> Player:
    """Return the player of a worker, whose process gives way to others once it is made."""
    player = Player(task)
    os.nice(niceness)
    return player


def _visits(actor: Actor, table: np.ndarray[Any, Any]) -> tuple[tuple[int, int], ...]:
    if not isinstance(actor, Policy):
        return ()
    reached = np.bincount(actor.leaves_of(table), minlength=len(actor.nodes))
    return tuple((leaf, int(reached[leaf])) for leaf in actor.leaves)


def _listed(seeds: Sequence[int]) -> str:
    shown = ", ".join(map(str, seeds[:3]))
    return shown if len(seeds) <= 3 else f"{shown} and {len(seeds) - 3} more"
