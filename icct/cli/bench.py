"""`icct bench WHAT`: measure speed beside peers; score a run's policies; make the tables."""

import argparse
import os
from pathlib import Path

EXAMPLES = """examples:
  icct bench speed                     updates/s on the CPU, or populations on a GPU
  icct bench speed --threads 2 --sbx   also SBX (pip install sbx-rl)
  icct bench record runs/lunar-lander  score best and final policies on fresh episodes
  icct bench report                    results/*.json -> docs/results.md
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    speed = kinds.add_parser("speed", help="how fast training is")
    speed.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    speed.add_argument("--sbx", action="store_true", help="compare with SBX as well")
    speed.add_argument("--device", default="auto", help="auto, cpu or cuda")
    record = kinds.add_parser("record", help="score the policies of a finished run")
    record.add_argument("run", type=Path)
    record.add_argument("--episodes", type=int, default=100)
    record.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    record.add_argument("--results", type=Path, default=Path("results"))
    report = kinds.add_parser("report", help="make the table of results")
    report.add_argument("--results", type=Path, default=Path("results"))
    report.add_argument("-o", "--output", type=Path, default=Path("docs/results.md"))


def run(options: argparse.Namespace) -> int:
    """Measure, and print Markdown."""
    if options.what == "speed":
        return _speed(options)
    if options.what == "record":
        from icct.bench.records import record_run
        from icct.cli.progress import ProgressBar

        with ProgressBar("episodes") as progress:
            paths = record_run(
                options.run, options.results, options.episodes, options.workers, progress
            )
        print("\n".join(str(path) for path in paths))
        return 0
    from icct.bench.report import write_report

    write_report(options.results, options.output)
    print(options.output)
    return 0


def _speed(options: argparse.Namespace) -> int:
    from icct.bench.speed import cpu_table, gpu_table, machine
    from icct.learn.train import choose_device

    device = choose_device(options.device).type
    print(machine(device), end="\n\n", flush=True)
    if device == "cuda":
        print(gpu_table(workers=max(1, len(os.sched_getaffinity(0)) - 2)))
    else:
        print(cpu_table(options.threads, options.sbx))
    return 0
