"""A finished run of the recipe → a record for each tree.

Records lie in `results/recipe`, the trees themselves in `results/recipe/policies`.
"""

from pathlib import Path
from typing import Any

from icct.bench.records import write_record
from icct.distill.request import CANDIDATES
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.files import read_json
from icct.policy.file import read_policy, write_policy
from icct.recipe.config import Student
from icct.recipe.folder import RUN_FILE, Folder, is_recipe, stages

FOLDER = "recipe"
FORMAT = ("icct-recipe-record", 1)
LARGEST = 2**22  # bytes of a record
Record = dict[str, Any]


def is_recipe_run(run: Path) -> bool:
    """Return whether a folder holds a run of the recipe."""
    file = run / RUN_FILE
    return file.is_file() and is_recipe(read_json(file, "a run file", error=ConfigError))


def tree_file(results: Path, task: str, method: str, seed: int) -> Path:
    """Return where the tree of a record is kept, made already or not."""
    return results / FOLDER / "policies" / f"{task}.{method}.seed-{seed}.json"


def record_recipe(run: Path, results: Path, task: Task | None = None) -> list[Path]:
    """Write a record and the policy of each tree of a finished run; the scores are the run's own.

    A task that is somebody's code has to be named.
    """
    folder = Folder.read(run, task)
    if not folder.finished:
        raise ConfigError(f"{run} is not finished. Go on with icct train --resume {run}.")
    paths = []
    for student, seed in folder.recipe.trees:
        place = tree_file(results, folder.recipe.task.name, student.method, seed)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_policy(read_policy(folder.file("policies", student, seed)), place)
        paths.append(write_record(results / FOLDER, place.name, _record(folder, student, seed)))
    return paths


def _record(folder: Folder, student: Student, seed: int) -> Record:
    about, entry = folder.about, folder.tree(student, seed)
    teacher = about["teachers"][str(seed)]
    made = [stage for stage in stages(folder.recipe.passes) if stage in entry]
    return {
        "format": FORMAT[0],
        "version": FORMAT[1],
        "task": folder.recipe.task.name,
        "method": student.method,
        "seed": seed,
        **{key: about[key] for key in ("icct", "python", "cores", "commit", "started")},
        "recipe": about["recipe"]
        | {"teacher_files": [Path(one).name for one in about["recipe"]["teacher_files"]]},
        "teacher": {
            "file": Path(teacher["file"]).name,
            "candidates": [
                {**one, "file": Path(one["file"]).name} for one in teacher["candidates"]
            ],
            "fresh": _without_returns(teacher["fresh"]),
        },
        "candidates": entry.get("candidates", {}),
        **{
            stage: entry[stage]
            if stage == "final"
            else {**entry[stage], "fresh": _without_returns(entry[stage]["fresh"])}
            for stage in made
        },
        **({"same_as": entry["same_as"]} if "same_as" in entry else {}),
        "environment_steps": _steps(folder, entry),
        "elapsed_s": {
            "teach": about.get("teaching", {}).get("elapsed_s"),  # of all teachers together
            **{stage: entry[stage]["elapsed_s"] for stage in made},
        },
    }


def _without_returns(fresh: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fresh.items() if key != "returns"}


def _steps(folder: Folder, entry: dict[str, Any]) -> dict[str, int | None]:
    """Return the environment steps of one tree; episodes count with their usual length."""
    recipe = folder.recipe
    length = entry["final"]["fresh"]["mean_length"]
    driven = (recipe.rounds + 2) * recipe.round_episodes
    chosen = min(CANDIDATES, recipe.rounds + 1) * recipe.validation_episodes
    episodes = len(entry.get("candidates", {})) * (driven + chosen)
    searched = stages(recipe.passes)[1:-1]
    episodes += sum(entry.get(stage, {}).get("episodes", 0) for stage in searched)
    episodes += entry["final"]["pruned"]["episodes"]
    return {
        "teach": None if recipe.teach is None else recipe.teach.steps * recipe.teachers,
        "after": round(episodes * length),
    }


def read_recipe_records(results: Path) -> list[Record]:
    """Return all records of recipe runs."""
    records = []
    for path in sorted((results / FOLDER).glob("*.json")):
        record = read_json(path, "a record", LARGEST, ConfigError)
        if not isinstance(record, dict) or (record.get("format"), record.get("version")) != FORMAT:
            raise ConfigError(f"{path} is not a record of a recipe run. Remove it.")
        records.append(record)
    return records
