"""`icct tune TASK`: many small trees by many settings, and the front of the best of them."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.cli.cluster import add_cluster_arguments, device_of, driving
from icct.cli.flags import STOPPED, converter, whole
from icct.cli.task import NAMES

if TYPE_CHECKING:
    from icct.envs.task import Task
    from icct.tune import Tuned, Tuning

FAILED = 1
EXAMPLES = """examples:
  icct tune inverted-pendulum                        teachers, then 24 trees, then their front
  icct tune Pendulum-v1 --budget 48 --jobs 2         more trees, two at a time
  icct tune lunar-lander --teacher a.json b.json     nothing is trained
  icct tune my-task.toml --cluster auto --gpus 0.5   on the nodes of a Ray cluster
  icct tune inverted-pendulum --plan                 only say how much work it is

Trees are compared by their return on validation episodes and by their active parameters; those
that no smaller or equal tree matches are the front, in OUT/front.md, front.png and front/. They are
scored on fresh episodes. What was stopped goes on by the same command.
"""
COUNTS = converter(tuple[int, ...])
# Options of the search: (name, type, metavar, help).
FLAGS: tuple[tuple[str, Any, str, str], ...] = (
    ("budget", whole, "N", "trees to try (default 24)"),
    ("seed", whole, "N", "the same seed, the same search"),
    ("leaves", COUNTS, "A,B", "of a tree (default 2,3,4,6,8)"),
    ("features", COUNTS, "A,B", "of a leaf's rule, 0 for constants (default 0,1,2,3,4)"),
    ("teacher-leaves", COUNTS, "A,B", "sizes of teachers, a population each (default 4,16)"),
    (
        "learning-rates",
        converter(tuple[float, ...]),
        "X,Y",
        "of the members of a population, in multiples of the preset's (default 0.3,1,3)",
    ),
    ("teacher-steps", whole, "N", "of each teacher (default: the preset's)"),
    ("polish-episodes", COUNTS, "A,B", "budgets of polishing a tree (default 0,500,2000)"),
    ("rounds", whole, "N", "of DAgger (default 6)"),
    ("validation-episodes", whole, "N", "to compare trees by (default 50)"),
    ("fresh-episodes", whole, "N", "to score the front (default 100)"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("task", help=f"{NAMES}; see icct tasks")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the task's environment; may be given again",
    )
    parser.add_argument("--out", type=Path, help="the folder (default: runs/tune/TASK)")
    parser.add_argument("--teacher", nargs="+", metavar="FILE", help="learn from these actors")
    for name, kind, metavar, text in FLAGS:
        parser.add_argument(f"--{name}", type=kind, metavar=metavar, help=text)
    parser.add_argument("--device", default="auto", help="of teachers: auto, cpu or cuda")
    parser.add_argument("--jobs", type=int, help="items at a time (default: one for each core)")
    parser.add_argument("--workers", type=int, default=1, help="processes of each item (default 1)")
    parser.add_argument("--minutes", type=float, help="stop what is unfinished then")
    parser.add_argument("--plan", action="store_true", help="only say what would be done")
    parser.add_argument("--no-forecast", action="store_true", help="begin at once")
    parser.add_argument("--item", help=argparse.SUPPRESS)  # what a worker is told to do
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Search, and print the front."""
    import icct.learn  # noqa: F401  # refuses a missing torch in words
    from icct.envs.find import find_task, parse_options
    from icct.tune.items import do_item
    from icct.tune.sampler import import_optuna
    from icct.tune.study import Worker, tune

    task = find_task(options.task, parse_options(options.option))
    if options.item is not None:
        item, workers = options.item, options.workers
        return 0 if do_item(options.out, item, task, workers, options.device) else STOPPED
    import_optuna()
    tuning = _tuning(options, task)
    out = (options.out or Path("runs/tune") / task.name).resolve()
    device = device_of(options)
    words = ["tune", options.task, *(w for text in options.option for w in ("--option", text))]
    jobs = options.jobs or len(os.sched_getaffinity(0))
    with driving(options, out / "logs", jobs, say=_say) as (drive, together):
        if options.plan or not options.no_forecast:
            _forecast(tuning, task, together, device)
        if options.plan:
            return 0
        worker = Worker(tuple(words), device, options.workers)
        found = tune(out, task, tuning, drive, worker)
    return _print(found)


def _tuning(options: argparse.Namespace, task: "Task") -> "Tuning":
    from icct.tune import Tuning
    from icct.zoo import lasting_source

    names = [name.replace("-", "_") for name, *_ in FLAGS]
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    files = tuple(lasting_source(path) for path in options.teacher or ())
    return Tuning(**given, teacher_files=files).fitting(task)


def _forecast(tuning: "Tuning", task: "Task", together: int, device: str) -> None:
    from icct.cli.progress import clock
    from icct.tune.cost import cost

    found = cost(tuning, task, together, device).as_text(together, clock)
    teachers = len(tuning.teacher_leaves) * len(tuning.learning_rates)
    learn = "teachers are files" if tuning.teacher_files else f"{teachers} teachers"
    print(f"{task.title}: {learn}, {tuning.budget} trees", file=sys.stderr)
    print(f"  at most {found}", file=sys.stderr)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print(found: "Tuned") -> int:
    if not found.outcome.complete:
        failed, left = len(found.outcome.failed), len(found.outcome.stopped)
        print(f"{len(found.trees)} trees, {failed} failed, {left} stopped; go on with the same")
        return FAILED if failed else STOPPED
    print((found.folder.path / "front.md").read_text(), end="")
    print(f"\nfigure: {found.folder.path / 'front.png'}")
    return 0
