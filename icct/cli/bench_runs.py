"""`icct bench table1|gumbel|tradeoff|curves`: run what is missing of the paper's evaluation."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.cli.bench_flags import add_results, add_workers
from icct.cli.cluster import add_cluster_arguments, device_of, driving
from icct.cli.seeds import parse_seeds

if TYPE_CHECKING:
    from icct.bench.cells import Cell

HELP = {
    "table1": "run what is missing of the paper's Table 1",
    "gumbel": "run what is missing of the ablation of Gumbel noise",
    "tradeoff": "run what is missing of the trade-off of size and return",
    "curves": "run what is missing of the learning curves",
}
FOLDERS = {"paper": Path("runs/paper"), "icct": Path("runs/recipe")}
FAILED, STOPPED = 1, 130


def add_arguments(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the kinds of `icct bench` that are in this file."""
    for kind, text in HELP.items():
        parser = kinds.add_parser(kind, help=text)
        parser.add_argument("--tasks", nargs="+", metavar="TASK", help="these alone")
        parser.add_argument("--methods", nargs="+", metavar="METHOD", help="these alone")
        parser.add_argument(
            "--seeds", default="5", metavar="N or A,B,C", help="how many, or which (default 5)"
        )
        parser.add_argument(
            "--recipe",
            choices=tuple(FOLDERS),
            default="paper",
            help="how to train: as the paper does (default), or by the recipe icct",
        )
        parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
        parser.add_argument(
            "--jobs", type=int, help="runs at a time (default: 1, by the recipe icct one per core)"
        )
        parser.add_argument("--workers", type=int, help="processes of each run for its episodes")
        parser.add_argument("--minutes", type=float, help="stop what is unfinished then")
        parser.add_argument("--episodes", type=int, default=100, help="fresh ones of a record")
        parser.add_argument("--out", type=Path, help="of the runs: runs/paper or runs/recipe")
        add_results(parser)
        parser.add_argument("--plan", action="store_true", help="only say what would be done")
        parser.add_argument("--no-forecast", action="store_true", help="begin at once")
        parser.add_argument(
            "--checkpoint-minutes", type=float, metavar="M", help="how often a run is saved"
        )
        add_cluster_arguments(parser)
        parser.add_argument("options", nargs="*", help="of icct train, after --")
    tree = kinds.add_parser("oracle-tree", help="one CART tree by the paper's protocol")
    tree.add_argument("task", help="a built-in task whose oracle is recorded")
    tree.add_argument("method", choices=("dt", "dt-dagger"), help="without or with DAgger")
    tree.add_argument("--seed", type=int, default=0, help="the same seed, the same tree")
    add_workers(tree)
    add_results(tree)


def _run(options: argparse.Namespace) -> int:
    """Say what is missing and how long it takes, then run it and record it."""
    from icct.bench.cells import cells, is_recorded
    from icct.bench.pieces import Settings, pieces

    device = device_of(options)
    seeds = parse_seeds(options.seeds)
    asked = cells(options.what, options.recipe, seeds, options.tasks, options.methods)
    missing = [cell for cell in asked if not is_recorded(options.results, cell)]
    out = options.out or FOLDERS[options.recipe]
    if not missing:
        print(f"0 of {len(asked)} cells are missing")
        return 0
    jobs, workers = _processes(options)
    how = Settings(
        _lasting(out, options),
        _lasting(options.results, options),
        device,
        workers,
        options.episodes,
        tuple(options.options),
        options.checkpoint_minutes,
    )
    with driving(options, out, jobs) as (drive, together):
        if options.plan or not options.no_forecast:
            print(_forecast(options, missing, len(asked), device, together), file=sys.stderr)
        if options.plan:
            print(f"{len(missing)} of {len(asked)} cells are missing")
            return 0
        outcome = drive(pieces(missing, how))
    done, failed, left = map(len, (outcome.done, outcome.failed, outcome.stopped))
    print(f"{done} done, {failed} failed, {left} to go on with")
    return FAILED if outcome.failed else STOPPED if outcome.stopped else 0


def _processes(options: argparse.Namespace) -> tuple[int, int | None]:
    """Return the runs at a time on this machine, and the processes of each for its episodes."""
    cores = len(os.sched_getaffinity(0))
    jobs = options.jobs or (cores if options.recipe == "icct" else 1)
    if options.workers is not None:
        return jobs, options.workers
    if options.cluster is not None:
        return jobs, max(1, int(options.cpus))
    return jobs, max(1, cores // jobs) if jobs > 1 or options.recipe == "icct" else None


def _lasting(path: Path, options: argparse.Namespace) -> Path:
    """Return a path that means the same on every node of a cluster."""
    return path if options.cluster is None else path.resolve()


def _forecast(
    options: argparse.Namespace, missing: "Sequence[Cell]", in_all: int, device: str, together: int
) -> str:
    """Return what is missing, how much work that is and how long it takes."""
    from icct.bench.evidence import read_records
    from icct.bench.forecast import forecast
    from icct.cli.progress import clock

    return forecast(
        missing,
        in_all,
        read_records(options.results),
        options.results,
        together=together,
        device=device,
        clock=clock,
        episodes=options.episodes,
        changes=_changes(options.options),
    )


def _changes(words: list[str]) -> dict[str, Any]:
    """Return the options of training behind `--`, which change how much work there is."""
    from icct.cli import train_options, train_recipe
    from icct.cli.flags import Parser

    parser = Parser(prog="icct bench ... --", allow_abbrev=False)
    train_options.add_arguments(parser)
    train_recipe.add_arguments(parser)
    train_options.add_preset_arguments(parser)
    options = parser.parse_args(words)
    return train_options.given_options(options) | train_recipe.given(options)


def _oracle_tree(options: argparse.Namespace) -> int:
    from icct.bench.oracle_trees import paper_protocol, record_tree
    from icct.cli.progress import ProgressBar
    from icct.envs.find import find_task

    task = find_task(options.task)
    protocol = paper_protocol(task.name, options.method)
    with ProgressBar("rounds of episodes") as progress:
        path = record_tree(options.results, task, protocol, options.seed, options.workers, progress)
    print(path)
    return 0


KINDS = {**dict.fromkeys(HELP, _run), "oracle-tree": _oracle_tree}
