"""`icct bench WHAT`: run the paper's evaluation; make its tables; measure speed beside peers.

What each kind does is in the file of its name in icct/bench.
"""

import argparse
import os
from pathlib import Path

from icct.cli import bench_runs, bench_zoo
from icct.cli.bench_flags import add_results, add_run, add_workers
from icct.cli.seeds import parse_seeds

EXAMPLES = """examples:
  icct bench table1 --plan             what is missing of the paper's table, and how long it takes
  icct bench table1 --tasks lunar-lander --recipe icct --jobs 16 --minutes 30
  icct bench gumbel                    the ablation of Gumbel noise; likewise tradeoff, curves
  icct bench speed                     updates/s on the CPU, or populations on a GPU
  icct bench speed --threads 2 --sbx   also SBX (pip install sbx-rl)
  icct bench record runs/lunar-lander  score best and final policies on fresh episodes
  icct bench report                    results/*.json -> docs/results.md, its details and figures
  icct bench zoo                       the best tree of each task and method, with its card
  icct bench cards --random 10         do the cards of the zoo tell the truth?
  icct bench imitation runs/teachers   CART, DAgger and linear-leaf trees of every teacher
  icct bench crisp runs/cddt           fuzzy and noisy trees as trained and made crisp
  icct bench weights runs/l1           how many leaf weights exceed a threshold
  icct bench growing                   a toy whose best tree is known: does growth stop there?
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    bench_runs.add_arguments(kinds)
    bench_zoo.add_arguments(kinds)
    speed = kinds.add_parser("speed", help="how fast training is")
    speed.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="of the CPU (all)"
    )
    speed.add_argument("--sbx", action="store_true", help="compare with SBX as well")
    speed.add_argument("--device", default="auto", help="auto, cpu or cuda")
    record = kinds.add_parser("record", help="score the policies of a finished run")
    add_run(record)
    record.add_argument("--task", help="of the run, where it is code of your own")
    record.add_argument("--episodes", type=int, default=100, help="fresh ones (default 100)")
    add_workers(record)
    add_results(record)
    _add_comparisons(kinds)
    growing = kinds.add_parser("growing", help="grow trees on a toy with a known best tree")
    growing.add_argument(
        "--seeds", default="5", metavar="N or A,B,C", help="how many, or which (default 5)"
    )
    growing.add_argument("--steps", type=int, default=12_000, help="of training (default 12,000)")
    report = kinds.add_parser("report", help="make the table of results")
    add_results(report)
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("docs/results.md"),
        help="the page to write (default docs/results.md)",
    )


def _add_comparisons(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the kinds that compare what is in a run folder."""
    imitation = kinds.add_parser("imitation", help="distil the teachers of a run")
    add_run(imitation)
    imitation.add_argument(
        "--leaves", type=int, nargs="+", default=[32, 8], help="of trees with constant leaves"
    )
    imitation.add_argument(
        "--linear-leaves", type=int, nargs="+", default=[8], help="of trees with linear leaves"
    )
    imitation.add_argument("--features", type=int, default=2, help="of linear leaves (default 2)")
    imitation.add_argument("--dagger", type=int, default=20, help="rounds (default 20)")
    imitation.add_argument("--round-episodes", type=int, default=20, help="of each round")
    imitation.add_argument("--teachers", default="mlp-max", help="their method")
    crisp = kinds.add_parser("crisp", help="compare trees as trained and made crisp")
    add_run(crisp)
    add_workers(crisp)
    for parser in (imitation, crisp):
        parser.add_argument("--episodes", type=int, default=20, help="fresh ones (default 20)")
        add_results(parser)
    weights = kinds.add_parser("weights", help="count the leaf weights of a run by size")
    add_run(weights)
    weights.add_argument(
        "--thresholds",
        type=float,
        nargs="+",
        default=[0.001, 0.01, 0.1],
        help="count the weights above these",
    )


def run(options: argparse.Namespace) -> int:
    """Measure, and print Markdown."""
    kinds = {
        "speed": _speed,
        "record": _record,
        "report": _report,
        "imitation": _imitation,
        "crisp": _crisp,
        "weights": _weights,
        "growing": _growing,
        **bench_runs.KINDS,
        **bench_zoo.KINDS,
    }
    return kinds[options.what](options)


def _record(options: argparse.Namespace) -> int:
    from icct.bench.recipes import is_recipe_run, record_recipe
    from icct.bench.records import record_run
    from icct.cli.progress import ProgressBar
    from icct.envs.find import find_task

    task = None if options.task is None else find_task(options.task)
    if is_recipe_run(options.run):
        print("\n".join(str(path) for path in record_recipe(options.run, options.results, task)))
        return 0
    with ProgressBar("episodes") as progress:
        paths = record_run(
            options.run, options.results, options.episodes, options.workers, progress, task
        )
    print("\n".join(str(path) for path in paths))
    return 0


def _report(options: argparse.Namespace) -> int:
    from icct.bench.report import write_report

    write_report(options.results, options.output)
    print(options.output)
    return 0


def _imitation(options: argparse.Namespace) -> int:
    from icct.bench.imitation import imitate_run, imitation_table
    from icct.cli.progress import ProgressBar
    from icct.distill import Request

    requests = [
        Request(leaves, features, dagger, options.round_episodes)
        for kind, features in ((options.leaves, None), (options.linear_leaves, options.features))
        for leaves in kind
        for dagger in (0, options.dagger)
    ]
    with ProgressBar("students") as progress:
        students = imitate_run(
            options.run, options.results, requests, options.episodes, options.teachers, progress
        )
    print(imitation_table(students))
    return 0


def _crisp(options: argparse.Namespace) -> int:
    from icct.bench.crisp import compare_crisp, crisp_table
    from icct.cli.progress import ProgressBar

    with ProgressBar("trees") as progress:
        compared = compare_crisp(
            options.run, options.results, options.episodes, options.workers, progress
        )
    print(crisp_table(compared))
    return 0


def _weights(options: argparse.Namespace) -> int:
    from icct.bench.weights import weigh_run, weights_table

    print(weights_table(weigh_run(options.run, options.thresholds), options.thresholds))
    return 0


def _growing(options: argparse.Namespace) -> int:
    from icct.bench.growing import grow_on_the_toy, growing_table
    from icct.cli.progress import ProgressBar

    with ProgressBar("steps") as progress:
        grown = grow_on_the_toy(parse_seeds(options.seeds), options.steps, progress)
    print(growing_table(grown))
    return 0


def _speed(options: argparse.Namespace) -> int:
    from icct.bench.speed import cpu_table, gpu_table, machine
    from icct.learn.device import choose_device

    device = choose_device(options.device).type
    print(machine(device), end="\n\n", flush=True)
    if device == "cuda":
        print(gpu_table(workers=max(1, len(os.sched_getaffinity(0)) - 2)))
    else:
        print(cpu_table(options.threads, options.sbx))
    return 0
