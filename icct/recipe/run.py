"""follow(recipe, folder) → a readable tree for each method and seed.

Every stage leaves its files and its scores in the run folder, and what is there is not done again:
to go on after a stop is to follow the recipe once more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icct.envs.find import Named, find_task
from icct.errors import ConfigError
from icct.lock import only_writer
from icct.policy import Policy
from icct.policy.file import read_policy
from icct.polish.climb import import_cma
from icct.recipe.config import Recipe
from icct.recipe.folder import LOCK_FILE, Folder
from icct.recipe.show import Show
from icct.recipe.stages import Stages
from icct.recipe.teaching import teacher_of
from icct.stop import stopped_by_sigterm


@dataclass(frozen=True)
class Result:
    """What a run of the recipe leaves behind."""

    folder: Folder
    finished: bool  # else it was stopped, and `go_on` goes on

    def policy(self, method: str | None = None, seed: int | None = None) -> Policy:
        """Return a tree to deploy; by default the first."""
        for student, own in self.folder.recipe.trees:
            if method in (None, student.method) and seed in (None, own):
                return read_policy(self.folder.file("policies", student, own))
        raise ConfigError(f"{self.folder.path}: there is no tree of {method} with seed {seed}.")


def follow(
    recipe: Recipe,
    out: str | Path,
    *,
    workers: int | None = None,
    show: Show | None = None,
    **training: Any,
) -> Result:
    """Make every tree of a recipe in a new run folder.

    Ctrl-C and SIGTERM stop it at a place to go on from; the result says so.

    Args:
        recipe: What to do.
        out: The run folder to make.
        workers: Processes that play episodes; by default as many as there are cores.
        show: Is told how the run stands.
        **training: Options of `icct.learn.train.train` for the teachers: device and so on.
    """
    path = Path(out)
    _check_before(recipe, recipe.teacher_files)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from None
    with only_writer(path, path / LOCK_FILE):
        return _to_the_end(Stages(Folder.new(path, recipe), workers, show, training))


def go_on(
    folder: str | Path,
    *,
    task: Named | None = None,
    workers: int | None = None,
    show: Show | None = None,
    **training: Any,
) -> Result:
    """Go on with a run that was stopped; a finished one is returned as it is."""
    path, named = Path(folder), None if task is None else find_task(task)
    found = Folder.read(path, named)
    if found.finished:
        return Result(found, finished=True)
    taught = all("distilled" in found.tree(*tree) for tree in found.recipe.trees)
    _check_before(found.recipe, () if taught else found.recipe.teacher_files)
    with only_writer(path, path / LOCK_FILE):
        return _to_the_end(Stages(Folder.read(path, named), workers, show, training))


def _check_before(recipe: Recipe, teachers: Sequence[str]) -> None:
    """Refuse before hours of work what would be refused after them; `teachers` are files."""
    if recipe.polish_episodes:
        import_cma()
        recipe.polishing(seed=0)
    for named in teachers:
        teacher_of(named, recipe.task)


def _to_the_end(stages: Stages) -> Result:
    """Take every stage that is left."""
    trees = stages.recipe.trees
    try:
        with stopped_by_sigterm():
            stages.teaching.teach()
            for student, seed in trees:
                stages.distilling.distil(student, seed)
            for student, seed in trees:
                stages.share(student, seed)
                stages.search(student, seed)
                stages.prune(student, seed)
    except KeyboardInterrupt:
        stages.save()
        return Result(stages.folder, finished=False)
    stages.about["elapsed_s"] = round(stages.spent_s, 1)
    stages.save()
    return Result(stages.folder, finished=True)
