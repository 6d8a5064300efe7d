"""Anything with `act()` on a task: episodes, and what they say together.

Every episode has a seed of its own, derived from the evaluation's seed and its number, so the
result is the same in one process and in many. Never imports torch.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from icct.envs.actor import Actor, NamedActor
from icct.envs.episodes import Episode, EpisodePool, Job, Player, episodes, mean_and_error
from icct.envs.find import Named, find_task
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.policy import Feature, Policy
from icct.policy.parts import Scalar
from icct.seeds import episode_seed

if TYPE_CHECKING:
    from icct.envs.base import Frame, TaskEnv

Progress = Callable[[int, int], None]  # (episodes done, episodes in all)


@dataclass(frozen=True)
class Evaluation:
    """What the episodes of one actor on one task say."""

    task: Task
    actor: str
    seed: int
    episodes: tuple[Episode, ...]
    features: tuple[Feature, ...]  # with the bounds that the actor was made for

    @cached_property
    def returns(self) -> tuple[float, ...]:
        """The return of each episode."""
        return tuple(episode.total_reward for episode in self.episodes)

    @property
    def mean(self) -> float:
        """The mean return."""
        return mean_and_error(self.returns)[0]

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return; NaN for a single episode."""
        return mean_and_error(self.returns)[1]

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
            "task": self.task.name,
            "actor": self.actor,
            "seed": self.seed,
            "episodes": len(self.episodes),
            "mean": self.mean,
            "standard_error": None if math.isnan(error) else error,
            "median": median(self.returns),
            "min": min(self.returns),
            "max": max(self.returns),
            "mean_length": sum(lengths) / len(lengths),
            "collisions": self.collisions if self.task.collision else None,
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
            f"{self.actor} on {self.task.title}: {count}, seed {self.seed}",
            f"  return      {self.mean:.2f}{plus_minus}",
            f"              median {median(self.returns):.2f}, "
            f"min {min(self.returns):.2f}, max {max(self.returns):.2f}",
            f"  length      {sum(lengths) / len(lengths):.1f} steps "
            f"({min(lengths)} to {max(lengths)}); {ended} of {len(lengths)} ended early",
        ]
        if self.task.collision:
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
    actor: Actor,
    task: Named,
    *,
    episodes: int = 10,
    seed: int = 0,
    workers: int = 1,
    name: str | None = None,
    options: Mapping[str, Scalar] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Return what `episodes` episodes of an actor on a task gave.

    Args:
        actor: Anything with `act(observation)`: a `Policy`, a driver, a network; see `Actor`. With
            more than one worker it must be picklable.
        task: A task, or what `find_task` takes: `figure-eight`, a Gymnasium id, a task card.
        episodes: How many.
        seed: The same seed gives the same episodes, whatever the number of workers.
        workers: 1 runs in this process; more are processes of their own.
        name: What to call the actor in the result.
        options: Options of the environment.
        progress: Called with (episodes done, episodes in all) after each.
    """
    for what, value in (("episodes", episodes), ("workers", workers)):
        if value < 1:
            raise ConfigError(f"{what} is {value}, expected at least 1.")
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more.")
    found = find_task(task, options).with_options(getattr(actor, "env_options", {}))
    if isinstance(actor, Policy):
        found.check_fits(actor)
    seeds = [episode_seed(seed, index) for index in range(episodes)]
    return Evaluation(
        task=found,
        actor=name or str(getattr(actor, "name", type(actor).__name__)),
        seed=seed,
        episodes=tuple(play_episodes(actor, found, seeds, workers, progress)),
        features=actor.features if isinstance(actor, Policy) else found.features,
    )


def play_episodes(
    actor: Actor, task: Task, seeds: list[int], workers: int, progress: Progress | None = None
) -> list[Episode]:
    """Return one episode for each seed, in their order."""
    played: list[Episode | None] = [None] * len(seeds)
    with EpisodePool(task, min(workers, len(seeds))) as pool:
        done = 0
        for place, (episode,) in pool.finished([Job(episodes, actor, [seed]) for seed in seeds]):
            played[place], done = episode, done + 1
            if progress is not None:
                progress(done, len(seeds))
    return [episode for episode in played if episode is not None]


def load_actor(text: str, task: Task) -> Actor:
    """Return what a command line names: `driver:NAME`, `zoo:NAME`, a policy or an actor file."""
    from icct.envs.drivers import PREFIX, find_driver

    if text.startswith(PREFIX):
        return find_driver(text, task)
    actor = read_named(text)
    task.check_fits(actor)
    return actor


def read_named(text: str) -> NamedActor:
    """Return a policy or an actor file, or `zoo:NAME`."""
    from icct.baselines import read_actor
    from icct.baselines.file import SUFFIX
    from icct.zoo import load_policy

    actor: NamedActor = read_actor(text) if text.endswith(SUFFIX) else load_policy(text)
    return actor


def film(
    actor: Actor,
    task: Named,
    seed: int,
    every: int = 1,
    options: Mapping[str, Scalar] | None = None,
) -> "list[Frame]":
    """Return pictures of one episode, every so many steps.

    Args:
        actor: As for `evaluate`.
        task: As for `evaluate`.
        seed: The seed of the episode itself, such as `Evaluation.episodes[0].seed`.
        every: Take a picture every so many steps.
        options: As for `evaluate`.
    """
    frames: list[Frame] = []
    found = find_task(task, options).with_options(getattr(actor, "env_options", {}))
    player = Player(found, "rgb_array")

    def take(env: "TaskEnv", step: int) -> None:
        if step % every == 0:
            frame = env.render()
            assert frame is not None  # the render mode is set above
            frames.append(frame)

    try:
        player.play(actor, seed, take)
    finally:
        player.close()
    return frames
