"""`icct train TASK` by the recipe: teach, distil, polish, with a plan before and scores after."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.cli.flags import STOPPED, whole
from icct.cli.train_options import command_to_resume, given_options, named_task
from icct.errors import ConfigError

if TYPE_CHECKING:
    from icct.recipe import Recipe, Result

TEACHERS = "teacher"  # the folder of the run whose curves are tracked
# Flags of the recipe, which plain training does not have: (option, type, metavar, help).
FLAGS: tuple[tuple[str, Callable[[str], Any], str, str], ...] = (
    (
        "minutes",
        float,
        "M",
        "fit the whole run into so many minutes (default: what it takes)",
    ),
    ("teachers", whole, "K", "teachers to train for each seed; the best teaches (default 1)"),
    ("rounds", whole, "N", "of DAgger, in which the student drives"),
    ("round_episodes", whole, "N", "episodes of each of these rounds"),
    ("extend_probes", whole, "N", "probes of a round that adds leaves where they pay; 0 for none"),
    ("polish_episodes", whole, "N", "episodes of the search, for each tree; 0 for none"),
    ("passes", whole, "N", "of adding leaves and polishing; the first that adds none is the last"),
    ("validation_episodes", whole, "N", "to choose a teacher and a student by (default 50)"),
    ("fresh_episodes", whole, "N", "to score what each stage made (default 100)"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the recipe."""
    group = parser.add_argument_group("options of the recipe icct")
    group.add_argument(
        "--teacher",
        nargs="+",
        metavar="FILE",
        help="distil these actors instead of training some; the best on validation teaches",
    )
    for name, kind, metavar, text in FLAGS:
        flag = f"--{name.replace('_', '-')}"
        group.add_argument(flag, dest=f"recipe_{name}", type=kind, metavar=metavar, help=text)
    group.add_argument(
        "--balanced",
        dest="recipe_balanced",
        action="store_true",
        default=None,
        help="complete trees only, all leaves at one depth",
    )


def given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the recipe that the command line gives."""
    names = [name for name, *_ in FLAGS] + ["balanced"]
    values = {name: getattr(options, f"recipe_{name}") for name in names}
    return {name: value for name, value in values.items() if value is not None}


def is_asked(options: argparse.Namespace) -> bool:
    """Return whether the command line asks for the recipe rather than for plain training."""
    from icct.files import read_json
    from icct.recipe.config import takes
    from icct.recipe.folder import RUN_FILE, is_recipe

    if options.resume is not None:
        file = options.resume / RUN_FILE
        return file.is_file() and is_recipe(read_json(file, "a run file", error=ConfigError))
    file = _file(options)
    asked = options.option_recipe or file.get("recipe")
    if asked is not None:
        return bool(asked == "icct")
    if options.init or options.option_grow or file.get("init") or file.get("grow"):
        return False  # what makes sense for plain training alone
    made = [takes(method) for method in _methods(options)]
    if any(made) and not all(made):
        raise ConfigError(
            f"{' and '.join(_methods(options))} do not share a recipe: icct makes sparse and "
            "complete trees only. Train all of them plainly with --recipe paper (or generic), or "
            "each kind in a run of its own."
        )
    return all(made)


def _file(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options in the file that the command line names."""
    from icct.learn.config import read_options
    from icct.recipe.config import OWN

    return {} if options.config is None else read_options(options.config, *OWN)


def _methods(options: argparse.Namespace) -> list[str]:
    """Return the methods that the command line or its file name."""
    return options.method or [_file(options).get("method", "icct-2-feature")]


def refuse_options(options: argparse.Namespace) -> None:
    """Refuse options of the recipe beside plain training, which would not heed them."""
    found = [*given(options), *(["teacher"] if options.teacher else [])]
    if found and options.resume is None:
        raise ConfigError(
            f"--{found[0].replace('_', '-')} is an option of the recipe icct, and this is plain "
            "training: leave it out, or take --recipe icct with a method of ICCT."
        )


def run(options: argparse.Namespace, training: dict[str, Any]) -> int:
    """Follow the recipe, and print how every tree scores."""
    from icct.cli.recipe_display import RecipeDisplay
    from icct.cli.tracking import tracked
    from icct.recipe import follow, go_on
    from icct.recipe.folder import check_free

    if options.resume is not None:
        task = _task_to_resume(options)
        with tracked(options, (), options.resume, TEACHERS) as run:
            display = RecipeDisplay(run)
            settings = {"workers": options.workers, "show": display, **training}
            result = go_on(options.resume, task=task, **settings)
    else:
        recipe = _recipe(options)
        out = options.out or Path("runs") / recipe.task.name
        check_free(out)
        recipe = _planned(recipe, options)
        with tracked(options, [recipe], out, TEACHERS) as run:
            display = RecipeDisplay(run)
            result = follow(recipe, out, workers=options.workers, show=display, **training)
    print(_summary(result))
    return 0 if result.finished else STOPPED


def _task_to_resume(options: argparse.Namespace) -> Any:
    """Return the task that is named again, or refuse flags that a run cannot heed any more."""
    found = [*given(options), *given_options(options)]
    found = [name for name in found if name != "options"]
    if found or options.teacher or options.method or options.out:
        raise ConfigError(
            f"{options.resume} goes on as it was configured: leave the options of the run out, or "
            "start a new one."
        )
    return named_task(options)


def _recipe(options: argparse.Namespace) -> "Recipe":
    from icct.recipe import make_recipe

    values = given_options(options)
    values.pop("recipe", None)
    values |= given(options)
    file, teacher = options.config, options.teacher or ()
    return make_recipe(options.task, _methods(options), teacher=teacher, file=file, **values)


def _planned(recipe: "Recipe", options: argparse.Namespace) -> "Recipe":
    """Measure how fast it goes here, say what will be done, and return the recipe that fits."""
    import os

    from icct.cli.progress import clock
    from icct.recipe.plan import fitted, measure_pace, plan

    workers = options.workers or len(os.sched_getaffinity(0))
    if sys.stderr.isatty():
        print("measuring how fast it goes here ...", end="\r", file=sys.stderr, flush=True)
    pace = measure_pace(recipe, workers, options.device)
    recipe = fitted(recipe, pace)
    found = plan(recipe, pace)
    methods = ", ".join(student.method for student in recipe.students)
    seeds = ", ".join(map(str, recipe.seeds))
    print(f"{recipe.task.title}: {methods}; seed {seeds}; recipe icct", file=sys.stderr)
    print(found.as_text(clock), file=sys.stderr)
    cores = "1 core" if workers == 1 else f"{workers} cores"
    if found.seconds is not None:
        advice = "" if recipe.minutes is not None else "; --minutes M fits it into M minutes"
        print(f"in all about {clock(found.seconds)} on {cores}{advice}", file=sys.stderr)
    return recipe


def _summary(result: "Result") -> str:
    folder, recipe = result.folder, result.folder.recipe
    lines = []
    if result.finished:
        lines = _table(result)
        minutes = folder.about["elapsed_s"] / 60
        lines.append(f"trees to deploy are in {folder.path / 'policies'} ({minutes:.1f} min)")
    else:
        lines.append(f"stopped; go on with: {command_to_resume(recipe.task, folder.path)}")
    return "\n".join(lines)


def _table(result: "Result") -> list[str]:
    """Return how each tree scored on fresh episodes after every stage."""
    from icct.cli.recipe_display import score_text
    from icct.recipe.folder import stages as stages_of

    folder, recipe = result.folder, result.folder.recipe
    passed = stages_of(recipe.passes)[:-1]
    made = [stage for stage in passed if any(stage in folder.tree(*t) for t in recipe.trees)]
    header = ("tree", "teacher", *made, "to deploy", "leaves", "parameters")
    rows: list[tuple[str, ...]] = [header]
    for student, seed in recipe.trees:
        entry = folder.tree(student, seed)
        stages = [folder.about["teachers"][str(seed)]]
        stages += [entry.get(stage, {}) for stage in (*made, "final")]
        scores = [score_text(stage.get("fresh")) for stage in stages]
        sizes = [
            f"{entry['distilled'][key]} -> {entry['final'][key]}"
            for key in ("leaves", "parameters")
        ]
        rows.append((f"{student.method} seed {seed}", *scores, *sizes))
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = [
        "  ".join(
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.insert(0, f"mean return over {recipe.fresh_episodes} fresh episodes ± standard error")
    return lines
