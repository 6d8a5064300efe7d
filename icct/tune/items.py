"""What one item of a search does: teach a population, make a tree, score a tree of the front.

Each leaves one file when it is done, written in one step, and goes on where it was stopped.
"""

import math
from pathlib import Path
from typing import Any

from icct.envs.episodes import EpisodePool, Job, mean_and_error, returns
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.evaluate import evaluate
from icct.files import write_json
from icct.learn.run import RUN_FILE, read_run
from icct.learn.train import resume, train
from icct.policy.file import read_policy
from icct.recipe import follow, go_on
from icct.seeds import FRESH, Purpose, seeds_above
from icct.tune.config import FILE, Setting, Tuning, read_tuning, tuning_of
from icct.tune.folder import TuneFolder

TEACH, TRY, CONFIRM = "teach", "try", "confirm"
KEPT = ("episodes", "mean", "standard_error", "median", "min", "max", "mean_length", "returns")


def do_item(folder: Path, item: str, task: Task, workers: int, device: str) -> bool:
    """Do one item of a search, named as `teach:4` or `try:tree-003`; return whether it is done."""
    place = TuneFolder(folder)
    tuning = tuning_of(read_tuning(folder), folder / FILE)
    kind, _, name = item.partition(":")
    if kind == TEACH:
        return _teach(place, tuning, task, int(name), workers, device)
    if kind == TRY:
        return _try(place, tuning, task, name, workers)
    if kind == CONFIRM:
        return _confirm(place, tuning, task, name, workers)
    raise ConfigError(f"there is no item {item!r} in {folder}.")


def _teach(
    place: TuneFolder, tuning: Tuning, task: Task, leaves: int, workers: int, device: str
) -> bool:
    """Train a population of teachers, or go on with it."""
    folder = place.teachers(leaves)
    if (folder / RUN_FILE).exists():
        return resume(folder, task=task, device=device, workers=workers).finished
    config = tuning.teachers(task, leaves)
    return train(config, folder, device=device, workers=workers).finished


def taught(place: TuneFolder, task: Task, leaves: int) -> bool:
    """Return whether the teachers of one size have learned."""
    folder = place.teachers(leaves)
    return (folder / RUN_FILE).exists() and read_run(folder, task).finished


def teacher_files(place: TuneFolder, tuning: Tuning, task: Task, setting: Setting) -> list[str]:
    """Return the files of a setting's teacher; the better one on validation teaches."""
    if setting.teacher_leaves is None or setting.learning_rate is None:
        return list(tuning.teacher_files)
    member = tuning.learning_rates.index(setting.learning_rate)
    seed = tuning.teachers(task, setting.teacher_leaves).seeds[member]
    policies = place.teachers(setting.teacher_leaves) / "policies"
    return [str(policies / f"seed-{seed}.{kind}.json") for kind in ("best", "final")]


def _try(place: TuneFolder, tuning: Tuning, task: Task, name: str, workers: int) -> bool:
    """Make a tree by its setting, and score it on the validation episodes of the search."""
    setting, folder = place.asked(name), place.trial(name)
    if (folder / RUN_FILE).exists():
        result = go_on(folder, task=task, workers=workers)
    else:
        teachers = teacher_files(place, tuning, task, setting)
        recipe = tuning.recipe(task, setting, number_of(name), teachers)
        result = follow(recipe, folder, workers=workers)
    if not result.finished:
        return False
    policy = result.policy()
    numbers = range(tuning.validation_episodes)
    seeds = seeds_above(Purpose.TUNE, tuning.seed, numbers)
    with EpisodePool(task, workers) as pool:
        played = [value for (value,) in pool.answers([Job(returns, policy, [s]) for s in seeds])]
    mean, error = mean_and_error(played)
    scored = {"episodes": len(played), "mean": mean, "standard_error": error, "returns": played}
    values: dict[str, Any] = {
        "parameters": policy.parameter_count,
        "leaves": len(policy.leaves),
        "depth": policy.depth,
        "validation": scored,
    }
    if not math.isfinite(mean):
        raise ConfigError(f"{name}: the mean return is {mean}, expected a number.")
    write_json(place.trial(name, ".json"), values, ConfigError)
    return True


def _confirm(place: TuneFolder, tuning: Tuning, task: Task, name: str, workers: int) -> bool:
    """Score a tree of the front on episodes that nothing was chosen on."""
    scored = evaluate(
        read_policy(place.policy(name)),
        task,
        episodes=tuning.fresh_episodes,
        seed=FRESH + tuning.seed,
        workers=workers,
    ).as_dict()
    values = {key: scored[key] for key in KEPT}
    write_json(place.trial(name, ".fresh.json"), values, ConfigError)
    return True


def tree_name(number: int) -> str:
    """Return the name of a tree.

    >>> tree_name(3), number_of("tree-003")
    ('tree-003', 3)
    """
    return f"tree-{number:03d}"


def number_of(name: str) -> int:
    """Return the number of a tree, which is its seed too."""
    return int(name.removeprefix("tree-"))
