"""Anything with `act()` on a task: episodes, and what they say together.

Every episode has a seed of its own, derived from the evaluation's seed and its number, so the
result is the same in one process and in many. Never imports torch.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import wait
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from icct.envs.catalog import Task, find_task
from icct.errors import ConfigError, PolicyError
from icct.policy import Feature, Policy

if TYPE_CHECKING:
    from icct.baselines import FuzzyTreeActor, NoisyTreeActor, PerceptronActor
    from icct.envs.base import Frame, TaskEnv
    from icct.envs.drivers import Actor

Progress = Callable[[int, int], None]  # (episodes done, episodes in all)


@dataclass(frozen=True)
class Episode:
    """One finished episode."""

    index: int
    seed: int
    total_reward: float
    length: int
    terminated: bool  # else it was truncated at the horizon
    collision: bool
    leaf_visits: tuple[tuple[int, int], ...]  # (leaf, steps), by leaf; empty without a tree
    outside: tuple[int, ...]  # for each feature, observations outside its declared bounds
    observations_outside: int  # observations with at least one feature outside


@dataclass(frozen=True)
class Evaluation:
    """What the episodes of one actor on one task say."""

    task: str
    actor: str
    seed: int
    episodes: tuple[Episode, ...]
    features: tuple[Feature, ...]

    @cached_property
    def returns(self) -> tuple[float, ...]:
        """The return of each episode."""
        return tuple(episode.total_reward for episode in self.episodes)

    @property
    def mean(self) -> float:
        """The mean return."""
        return math.fsum(self.returns) / len(self.returns)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return; NaN for a single episode."""
        count, mean = len(self.returns), self.mean
        if count < 2:
            return math.nan
        variance = math.fsum((value - mean) ** 2 for value in self.returns) / (count - 1)
        return math.sqrt(variance / count)

    @property
    def steps(self) -> int:
        """The number of steps of all episodes."""
        return sum(episode.length for episode in self.episodes)

    @property
    def collisions(self) -> int:
        """The number of episodes that ended in a collision."""
        return sum(episode.collision for episode in self.episodes)

    @property
    def leaf_visits(self) -> dict[int, int]:
        """Leaf → the number of steps in which it acted; empty without a tree."""
        visits: dict[int, int] = {}
        for episode in self.episodes:
            for leaf, steps in episode.leaf_visits:
                visits[leaf] = visits.get(leaf, 0) + steps
        return dict(sorted(visits.items()))

    @property
    def observations_outside(self) -> int:
        """The number of observations with a feature outside its declared bounds."""
        return sum(episode.observations_outside for episode in self.episodes)

    @property
    def features_outside(self) -> dict[str, int]:
        """Feature → observations outside its bounds, for the features that left them."""
        counts = np.sum([episode.outside for episode in self.episodes], axis=0)
        named = zip(self.features, counts.tolist(), strict=True)
        return {feature.name: count for feature, count in named if count}

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        lengths = [episode.length for episode in self.episodes]
        error = self.standard_error
        return {
            "task": self.task,
            "actor": self.actor,
            "seed": self.seed,
            "episodes": len(self.episodes),
            "mean": self.mean,
            "standard_error": None if math.isnan(error) else error,
            "median": median(self.returns),
            "min": min(self.returns),
            "max": max(self.returns),
            "mean_length": sum(lengths) / len(lengths),
            "collisions": self.collisions if find_task(self.task).collides else None,
            "steps": self.steps,
            "leaf_visits": {str(leaf): steps for leaf, steps in self.leaf_visits.items()},
            "observations_outside": self.observations_outside,
            "features_outside": self.features_outside,
            "returns": list(self.returns),
            "lengths": lengths,
            "episode_seeds": [episode.seed for episode in self.episodes],
        }

    def as_text(self) -> str:
        """Return a short report for people."""
        lengths = [episode.length for episode in self.episodes]
        ended = sum(episode.terminated for episode in self.episodes)
        error = self.standard_error
        count = f"{len(self.episodes)} episode" + "s" * (len(self.episodes) != 1)
        plus_minus = "" if math.isnan(error) else f" ± {error:.2f} (mean ± standard error)"
        lines = [
            f"{self.actor} on {self.task}: {count}, seed {self.seed}",
            f"  return      {self.mean:.2f}{plus_minus}",
            f"              median {median(self.returns):.2f}, "
            f"min {min(self.returns):.2f}, max {max(self.returns):.2f}",
            f"  length      {sum(lengths) / len(lengths):.1f} steps "
            f"({min(lengths)} to {max(lengths)}); {ended} of {len(lengths)} ended early",
        ]
        if find_task(self.task).collides:
            lines.append(f"  collisions  {self.collisions} of {len(lengths)} episodes")
        left = ", ".join(f"{name} {n}" for name, n in list(self.features_outside.items())[:6])
        more = len(self.features_outside) - 6
        left += f", {more} more" if more > 0 else ""
        lines.append(
            f"  outside     {self.observations_outside} of {self.steps} observations left the "
            f"declared bounds{': ' + left if left else ''}"
        )
        for row, (leaf, steps) in enumerate(self.leaf_visits.items()):
            label = "leaf use" if row == 0 else ""
            lines.append(f"  {label:<10}  leaf {leaf:<3} {100 * steps / self.steps:5.1f} %")
        return "\n".join(lines)


def evaluate(
    actor: "Actor",
    task: str,
    *,
    episodes: int = 10,
    seed: int = 0,
    workers: int = 1,
    name: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Return what `episodes` episodes of an actor on a task gave.

    Args:
        actor: Anything with `act(observation)`: a `Policy`, a driver, a network. With a method
            `begin(seed)` it is told the start of each episode, and with an attribute `env_options`
            it adds to the options. With more than one worker it must be picklable.
        task: A short name such as `figure-eight`, or a Gymnasium id.
        episodes: How many.
        seed: The same seed gives the same episodes, whatever the number of workers.
        workers: 1 runs in this process; more are processes of their own.
        name: What to call the actor in the result.
        options: Given to `icct.envs.make`.
        progress: Called with (episodes done, episodes in all) after each.
    """
    found = find_task(task)
    for what, value in (("episodes", episodes), ("workers", workers)):
        if value < 1:
            raise ConfigError(f"{what} is {value}, expected at least 1.")
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more.")
    if isinstance(actor, Policy):
        check_fits(actor, found)
    run = _in_this_process if min(workers, episodes) == 1 else _in_workers
    done = run(actor, found, dict(options or {}), episodes, seed, workers, progress)
    return Evaluation(
        task=found.name,
        actor=name or str(getattr(actor, "name", type(actor).__name__)),
        seed=seed,
        episodes=tuple(sorted(done, key=lambda episode: episode.index)),
        features=_features(actor, found),
    )


def episode_seed(seed: int, index: int) -> int:
    """Return the seed of episode `index` of an evaluation, 0 to 2**32 - 1."""
    return int(np.random.SeedSequence((seed, index)).generate_state(1)[0])


def check_fits(
    policy: "Policy | PerceptronActor | FuzzyTreeActor | NoisyTreeActor", task: Task
) -> None:
    """Refuse a policy whose features or actions are not those of the task, in the same order."""
    for kind, ours, theirs in (
        ("feature", policy.features, task.features),
        ("action", policy.actions, task.actions),
    ):
        found, expected = [part.name for part in ours], [part.name for part in theirs]
        for position, (a, b) in enumerate(zip(found, expected, strict=False)):
            if a != b:
                raise PolicyError(
                    f"{policy.name} does not fit task {task.name}: its {kind} {position} is "
                    f"{a!r}, but the task's is {b!r}."
                )
        if len(found) != len(expected):
            raise PolicyError(
                f"{policy.name} does not fit task {task.name}: it has {len(found)} {kind}s, but "
                f"the task has {len(expected)}."
            )


def load_actor(text: str, task: Task) -> "Actor":
    """Return what a command line names: `driver:NAME`, `zoo:NAME`, a policy or an actor file."""
    from icct.envs.drivers import PREFIX, find_driver

    if text.startswith(PREFIX):
        return find_driver(text, task)
    from icct.baselines import read_actor
    from icct.baselines.file import SUFFIX
    from icct.zoo import load_policy

    actor = read_actor(text) if text.endswith(SUFFIX) else load_policy(text)
    check_fits(actor, task)
    return actor


def film(
    actor: "Actor", task: str, seed: int, every: int = 1, options: Mapping[str, Any] | None = None
) -> "list[Frame]":
    """Return pictures of one episode, every so many steps.

    Args:
        actor: As for `evaluate`.
        task: As for `evaluate`.
        seed: The seed of the episode itself, such as `Evaluation.episodes[0].seed`.
        every: Take each so-manieth step.
        options: As for `evaluate`.
    """
    frames: list[Frame] = []
    runner = EpisodeRunner(actor, find_task(task), {**(options or {}), "render_mode": "rgb_array"})

    def take(env: "TaskEnv", step: int) -> None:
        if step % every == 0:
            frame = env.render()
            assert frame is not None  # the render mode is set above
            frames.append(frame)

    try:
        runner.run(0, seed, take)
    finally:
        runner.close()
    return frames


class EpisodeRunner:
    """An actor and its environment in one process; called with (index, seed), gives the episode."""

    def __init__(self, actor: "Actor", task: Task, options: dict[str, Any]) -> None:
        from icct.envs import make

        self.actor = actor
        self._env = make(task.name, **{**options, **getattr(actor, "env_options", {})})
        features = _features(actor, task)
        # In the precision of the observations, so that a value on the bound is not outside.
        self._low = np.array([feature.low for feature in features], dtype=np.float32)
        self._high = np.array([feature.high for feature in features], dtype=np.float32)

    def __call__(self, request: tuple[int, int]) -> Episode:
        """Return the episode of (index, seed)."""
        return self.run(*request)

    def run(
        self, index: int, seed: int, watch: "Callable[[TaskEnv, int], None] | None" = None
    ) -> Episode:
        """Return one episode; `watch` is called with the environment before every step."""
        actor, env = self.actor, self._env
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
        table = np.stack(seen)
        outside = (table < self._low) | (table > self._high)
        return Episode(
            index=index,
            seed=seed,
            total_reward=total,
            length=len(seen),
            terminated=terminated,
            collision=bool(info.get("collision", False)),
            leaf_visits=_visits(actor, table),
            outside=tuple(outside.sum(axis=0).tolist()),
            observations_outside=int(outside.any(axis=1).sum()),
        )

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def _features(actor: "Actor", task: Task) -> tuple[Feature, ...]:
    return actor.features if isinstance(actor, Policy) else task.features


def _visits(actor: "Actor", table: np.ndarray[Any, Any]) -> tuple[tuple[int, int], ...]:
    if not isinstance(actor, Policy):
        return ()
    reached = np.bincount(actor.leaves_of(table), minlength=len(actor.nodes))
    return tuple((leaf, int(reached[leaf])) for leaf in actor.leaves)


def _in_this_process(
    actor: "Actor",
    task: Task,
    options: dict[str, Any],
    episodes: int,
    seed: int,
    workers: int,
    progress: Progress | None,
) -> list[Episode]:
    runner, done = EpisodeRunner(actor, task, options), []
    try:
        for index in range(episodes):
            done.append(runner.run(index, episode_seed(seed, index)))
            if progress is not None:
                progress(len(done), episodes)
    finally:
        runner.close()
    return done


def _in_workers(
    actor: "Actor",
    task: Task,
    options: dict[str, Any],
    episodes: int,
    seed: int,
    workers: int,
    progress: Progress | None,
) -> list[Episode]:
    """Hand the episodes out one by one to processes, whoever is free."""
    from icct.envs import need_gymnasium

    need_gymnasium(task)
    from icct.envs.worker import Worker

    waiting = iter(range(episodes))
    done: list[Episode] = []
    crew: list[Worker] = []

    def hand_out(worker: Worker) -> bool:
        index = next(waiting, None)
        if index is not None:
            own = episode_seed(seed, index)
            worker.doing = f"{task.name}, episode {index} with seed {own}"
            worker.ask((index, own))
        return index is not None

    try:
        for _ in range(min(workers, episodes)):
            crew.append(Worker(task.name, EpisodeRunner, actor, task, options))
        for worker in crew:
            worker.answer()  # its environment is made
        busy = {worker.connection: worker for worker in crew if hand_out(worker)}
        while busy:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                done.append(worker.answer())
                if progress is not None:
                    progress(len(done), episodes)
                if not hand_out(worker):
                    del busy[connection]  # type: ignore[arg-type]
    finally:
        for worker in crew:
            worker.close()
    return done
