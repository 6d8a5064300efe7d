"""A finished run of the recipe → a record for each tree, and the records as a table.

Records lie in `results/recipe`, the trees themselves in `results/recipe/policies`.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from icct.bench.records import write_record
from icct.bench.tables import PAPER_RESULTS, mean_and_error, tasks_in_order
from icct.distill.request import CANDIDATES
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.files import read_json
from icct.policy.file import read_policy, write_policy
from icct.recipe.config import METHODS_MADE, Student
from icct.recipe.folder import RUN_FILE, STAGES, Folder, is_recipe

FOLDER = "recipe"
FORMAT = ("icct-recipe-record", 1)
LARGEST = 2**22  # bytes of a record
INTRODUCTION = """\
## The recipe icct

Mean return ± standard error over seeds, each over fresh episodes that nothing was chosen on. One
row is made by `icct train TASK --method METHOD` or, where its teachers are files, with `--teacher
FILE`; [recipe.md](recipe.md) has the commands. *Paper* is its best checkpoint of each run, chosen
on what it reports. Leaves and parameters are those of the tree to deploy, in brackets before
pruning; parameters are counted as in the paper. Trees grown by distillation are uneven: the depth
says by how much. *Search* is `--polish-episodes`. Steps are of the environment, in thousands: of
the teachers, and of all after them, the latter estimated from episodes and their length. Minutes
are those of one tree after its teacher.

| task | method | seeds | search | teacher | distilled | polished | **to deploy** | paper | leaves \
| depth | parameters | steps | min |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""
Record = dict[str, Any]


def is_recipe_run(run: Path) -> bool:
    """Return whether a folder holds a run of the recipe."""
    file = run / RUN_FILE
    return file.is_file() and is_recipe(read_json(file, "a run file", error=ConfigError))


def record_recipe(run: Path, results: Path, task: Task | None = None) -> list[Path]:
    """Write a record and the policy of each tree of a finished run; the scores are the run's own.

    A task that is somebody's code has to be named.
    """
    folder = Folder.read(run, task)
    if not folder.finished:
        raise ConfigError(f"{run} is not finished. Go on with icct train --resume {run}.")
    paths = []
    for student, seed in folder.recipe.trees:
        name = f"{folder.recipe.task.name}.{student.method}.seed-{seed}.json"
        place = results / FOLDER / "policies" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        write_policy(read_policy(folder.file("policies", student, seed)), place)
        paths.append(write_record(results / FOLDER, name, _record(folder, student, seed)))
    return paths


def _record(folder: Folder, student: Student, seed: int) -> Record:
    about, entry = folder.about, folder.tree(student, seed)
    teacher = about["teachers"][str(seed)]
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
            for stage in STAGES
            if stage in entry
        },
        "environment_steps": _steps(folder, entry),
        "elapsed_s": {
            "teach": about.get("teaching", {}).get("elapsed_s"),  # of all teachers together
            **{stage: entry[stage]["elapsed_s"] for stage in STAGES if stage in entry},
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
    episodes += entry.get("polished", {}).get("episodes", 0) + entry["final"]["pruned"]["episodes"]
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


def recipe_table(records: Sequence[Record]) -> str:
    """Return the section of the page of results that shows the recipe; nothing without records."""
    if not records:
        return ""
    lines = []
    for task in tasks_in_order(record["task"] for record in records):
        for method in METHODS_MADE:
            rows = [r for r in records if (r["task"], r["method"]) == (task, method)]
            if rows:
                lines.append(_row(task, method, rows))
    return INTRODUCTION + "\n".join(lines) + "\n"


def _row(task: str, method: str, rows: Sequence[Record]) -> str:
    cell = PAPER_RESULTS.get((task, method))
    paper = "" if cell is None else f"{cell[0]:g} ± {cell[1]:g}"
    scores = [mean_and_error([row["teacher"]["fresh"]["mean"] for row in rows])]
    for stage in STAGES:
        own = [row[stage]["fresh"]["mean"] for row in rows if stage in row]
        scores.append(mean_and_error(own) if own else "-")
    scores[-1] = f"**{scores[-1]}**"
    before = [row["polished" if "polished" in row else "distilled"] for row in rows]
    sizes = [
        f"{mean(row['final'][key] for row in rows):.1f} ({mean(one[key] for one in before):.1f})"
        for key in ("leaves", "depth", "parameters")
    ]
    taught = [row["environment_steps"]["teach"] for row in rows]
    after = mean(row["environment_steps"]["after"] for row in rows) / 1000
    steps = f"{'file' if None in taught else f'{mean(taught) / 1000:.0f}'} + {after:.0f}"
    minutes = mean(
        sum(value for stage, value in row["elapsed_s"].items() if stage != "teach" and value)
        for row in rows
    )
    search = "/".join(sorted({f"{row['recipe']['polish_episodes']:,}" for row in rows}))
    cells = [task, method, str(len(rows)), search, *scores, paper, *sizes, steps]
    return f"| {' | '.join([*cells, f'{minutes / 60:.1f}'])} |"
