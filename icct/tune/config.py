"""What a search over sizes and recipes does: one record, complete before anything starts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from icct.envs.task import Task
from icct.errors import ConfigError, shown
from icct.files import read_json
from icct.learn.config import TrainConfig, make_config, task_as_json
from icct.methods import METHODS
from icct.recipe.config import TEACHER, Recipe
from icct.recipe.config import make_recipe as make_any_recipe

FORMAT, VERSION = "icct-tune", 1
FILE = "tune.json"
MOST_FEATURES = 7  # of a leaf's rule: what the methods have names for
FEWEST_POLISHED = 100  # episodes, below which a search cannot choose
TRIAL_FRESH = 2  # the fewest; trials are compared on episodes of their own, see icct/seeds.py


@dataclass(frozen=True)
class Setting:
    """One tree to try: its shape, whom it learns from, and how long it is polished."""

    leaves: int
    features: int  # weights of a leaf's rule; 0: constant leaves
    teacher_leaves: int | None  # None where the teachers are files
    learning_rate: float | None  # of that teacher, as a multiple of the preset's
    polish_episodes: int

    @property
    def method(self) -> str:
        """The method that makes such leaves."""
        return f"icct-{self.features}-feature" if self.features else "icct-static"


@dataclass(frozen=True)
class Tuning:
    """A search: how many trees, of which settings, compared on how many episodes."""

    budget: int = 24  # trees
    seed: int = 0
    leaves: tuple[int, ...] = (2, 3, 4, 6, 8)
    features: tuple[int, ...] = (0, 1, 2, 3, 4)
    teacher_leaves: tuple[int, ...] = (4, 16)
    learning_rates: tuple[float, ...] = (0.3, 1.0, 3.0)  # multiples of the preset's
    teacher_steps: int | None = None  # None: the preset's
    teacher_files: tuple[str, ...] = ()  # instead of teachers that are trained
    polish_episodes: tuple[int, ...] = (0, 500, 2000)
    rounds: int = 6  # of DAgger
    validation_episodes: int = 50
    fresh_episodes: int = 100

    def __post_init__(self) -> None:
        for item in fields(self):  # files give lists where tuples are kept
            if isinstance(value := getattr(self, item.name), list):
                object.__setattr__(self, item.name, tuple(value))
        least = {"budget": 1, "seed": 0, "rounds": 0, "validation_episodes": 2, "fresh_episodes": 2}
        for name, fewest in least.items():
            value = getattr(self, name)
            if type(value) is not int or value < fewest:
                raise ConfigError(f"{name} is {shown(value)}, expected a whole number >= {fewest}.")
        for name in ("leaves", "features", "teacher_leaves", "learning_rates", "polish_episodes"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ConfigError(f"{name} is {shown(values)}, expected some, and each once.")
        self._check_ranges()

    def _check_ranges(self) -> None:
        for count in self.features:
            if not 0 <= count <= MOST_FEATURES:
                raise ConfigError(f"features has {count}, expected 0 to {MOST_FEATURES}.")
        for rate in self.learning_rates:
            if not 0 < rate < 1e6:
                raise ConfigError(f"learning_rates has {rate}, expected more than 0.")
        for episodes in self.polish_episodes:
            if episodes and episodes < FEWEST_POLISHED:
                raise ConfigError(
                    f"polish_episodes has {episodes}, expected 0 or at least {FEWEST_POLISHED}."
                )

    def fitting(self, task: Task) -> "Tuning":
        """Return the search without rules of more features than the task has."""
        most = len(task.features)
        kept = tuple(count for count in self.features if count <= most)
        if not kept:
            raise ConfigError(f"{task.name} has {most} features; none of {self.features} fits.")
        return Tuning(**asdict(self) | {"features": kept})

    def teachers(self, task: Task, leaves: int) -> TrainConfig:
        """Return a population of teachers of one size, one member for each learning rate.

        They learn for all of their steps: an end by score would depend on the machine's speed.
        """
        members = range(len(self.learning_rates))
        seeds = tuple(len(members) * self.seed + member for member in members)
        config = make_config(task, TEACHER, recipe="icct", seeds=seeds, leaves=leaves)
        rates = {
            name: tuple(factor * config.per_member(name)[0] for factor in self.learning_rates)
            for name in ("actor_lr", "critic_lr", "entropy_lr")
        }
        steps = config.steps if self.teacher_steps is None else self.teacher_steps
        every = min(config.evaluation.evaluate_every, max(1, steps // 5))
        starts = min(config.learning.learning_starts, max(1, steps // 5))
        return config.changed(
            **rates, steps=steps, stop_score=None, evaluate_every=every, learning_starts=starts
        )

    def recipe(self, task: Task, setting: Setting, seed: int, teachers: list[str]) -> Recipe:
        """Return the recipe that makes one tree from its teacher."""
        assert setting.method in METHODS, "checked with the configuration"
        return make_any_recipe(
            task,
            (setting.method,),
            seeds=(seed,),
            teacher=teachers,
            leaves=setting.leaves,
            rounds=self.rounds,
            polish_episodes=setting.polish_episodes,
            validation_episodes=self.validation_episodes,
            fresh_episodes=TRIAL_FRESH,
        )

    def as_json(self, task: Task) -> dict[str, Any]:
        """Return the search as plain values."""
        values = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return {"format": FORMAT, "version": VERSION, **task_as_json(task), "tuning": values}


def read_tuning(folder: Path) -> Mapping[str, Any]:
    """Return what the file of a search says."""
    path = folder / FILE
    about = read_json(path, "the file of a search", error=ConfigError)
    if not isinstance(about, dict) or (about.get("format"), about.get("version")) != (
        FORMAT,
        VERSION,
    ):
        raise ConfigError(f"{path} is not of a search by this icct. Choose another folder.")
    return about


def tuning_of(about: Mapping[str, Any], path: Path) -> Tuning:
    """Return the search that a file remembers."""
    try:
        return Tuning(**about["tuning"])
    except (TypeError, KeyError) as error:
        raise ConfigError(f"{path}: damaged ({error}); begin the search anew.") from None
