"""The folder of a recipe run: what it holds, and what its run file says of every stage.

    run.json                what was asked, and how every stage scored
    teacher/                the run that trained the teachers
    distilled/seed-0.json   the student; beside it .grow.json and .teacher.json, to choose from
    extended/seed-0.json    with leaves added where they pay, where that was asked for
    polished/seed-0.json    after the search
    extended-2, polished-2  the same once more, in a second pass
    policies/seed-0.json    the tree to deploy: polished, then pruned

With several methods each of these but the teacher's has a folder for every method.
"""

import os
import platform
import time
from pathlib import Path
from typing import Any

from icct import __version__
from icct.commit import source_commit
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.files import read_json, write_json
from icct.recipe.config import Recipe, Student, recipe_from_json

RUN_FILE, LOCK_FILE = "run.json", "run.lock"
FORMAT, VERSION = "icct-recipe", 1


class Folder:
    """A run folder, and the content of its run file."""

    def __init__(self, path: Path, recipe: Recipe, about: dict[str, Any]) -> None:
        self.path, self.recipe, self.about = path, recipe, about

    @classmethod
    def new(cls, path: Path, recipe: Recipe) -> "Folder":
        """Make a folder; one that holds a run is refused."""
        check_free(path)
        folder = cls(path, recipe, _description(recipe))
        folder.save()
        return folder

    @classmethod
    def read(cls, path: Path, task: Task | None = None) -> "Folder":
        """Return the run of a folder; the task must be named where it is somebody's code."""
        file = path / RUN_FILE
        about = read_json(file, "a run file", error=ConfigError)
        if not is_recipe(about):
            raise ConfigError(f"{path} does not hold a run of the recipe.")
        if about.get("version") != VERSION:
            raise ConfigError(
                f"{path} is a run of version {about.get('version')!r}; this icct reads version "
                f"{VERSION}. Resume it with the icct that wrote it, or start anew."
            )
        try:
            recipe = recipe_from_json(about["recipe"], str(file), task)
            _check_progress(about)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(
                f"{file}: damaged ({type(error).__name__}: {error}); start the run anew."
            ) from None
        return cls(path, recipe, about)

    def save(self) -> None:
        """Write the run file; it is complete or untouched."""
        write_json(self.path / RUN_FILE, self.about, ConfigError)

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return self.about.get("elapsed_s") is not None

    @property
    def teacher(self) -> Path:
        """The folder of the run that trains the teachers."""
        return self.path / "teacher"

    def tree(self, student: Student, seed: int) -> dict[str, Any]:
        """Return what the run file says of a tree; what is changed there is saved by `save`."""
        name = f"{student.method}/seed-{seed}"
        entry: dict[str, Any] = self.about["trees"].setdefault(name, {})
        return entry

    def file(self, stage: str, student: Student, seed: int, kind: str = "") -> Path:
        """Return the file of a tree after a stage."""
        several = len(self.recipe.students) > 1
        place = self.path / stage / student.method if several else self.path / stage
        place.mkdir(parents=True, exist_ok=True)
        return place / f"seed-{seed}{kind}.json"


def in_pass(stage: str, number: int) -> str:
    """Return the name of a stage in a pass."""
    return stage if number == 1 else f"{stage}-{number}"


def stages(passes: int) -> tuple[str, ...]:
    """Return the stages that a tree may go through, in their order.

    >>> stages(2)
    ('distilled', 'extended', 'polished', 'extended-2', 'polished-2', 'final')
    """
    searched = (
        in_pass(stage, number)
        for number in range(1, passes + 1)
        for stage in ("extended", "polished")
    )
    return ("distilled", *searched, "final")


def check_free(path: Path) -> None:
    """Refuse a folder that holds a run already."""
    if not (path / RUN_FILE).exists():
        return
    about = read_json(path / RUN_FILE, "a run file", error=ConfigError)
    finished = isinstance(about, dict) and about.get("elapsed_s") is not None
    way_on = f"Continue it with icct train --resume {path}, or choose another folder."
    raise ConfigError(
        f"{path} holds a run already. "
        f"{'It is finished; choose another folder.' if finished else way_on}"
    )


def is_recipe(about: Any) -> bool:
    """Return whether the content of a run file is that of a recipe run."""
    return isinstance(about, dict) and about.get("format") == FORMAT


def _check_progress(about: dict[str, Any]) -> None:
    """Refuse a run file whose scores are not what a run writes, with a ValueError or the like."""
    for teacher in about["teachers"].values():
        if not isinstance(teacher["file"], str):
            raise TypeError("the file of a teacher is not text")
        float(teacher["fresh"]["mean"])
    for entry in about["trees"].values():
        if not isinstance(entry, dict):
            raise TypeError("a tree has no scores")
        for stage in stages(about["recipe"].get("passes", 1)):
            if stage in entry:
                float(entry[stage]["fresh"]["mean"])
                int(entry[stage]["leaves"])


def _description(recipe: Recipe) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "icct": __version__,
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "commit": source_commit(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "recipe": recipe.as_json(),
        "teachers": {},
        "trees": {},
    }
