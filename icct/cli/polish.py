"""`icct polish POLICY --task T -o BETTER`: search on the return of the very controller."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.cluster import CLUSTER, players
from icct.cli.flags import STOPPED, whole
from icct.cli.inputs import keep_inputs
from icct.cli.polish_display import PolishDisplay
from icct.cli.properties import holding
from icct.cli.task import add_task_arguments, task_for
from icct.errors import ConfigError

if TYPE_CHECKING:
    from icct.envs.task import Task
    from icct.polish import PolishConfig

EXAMPLES = """examples:
  icct polish runs/lander/policies/seed-0.json --task lunar-lander --minutes 8 -o better.json
  icct polish mine.json --task single-lane-ring --evaluations 20000 --seed 1 -o better.json
  icct polish mine.json --task lunar-lander --minutes 8 --objective worst-10% -o safer.json
  icct polish mine.json --task lunar-lander --minutes 8 --properties safe.toml -o better.json
  icct polish mine.json --task inverted-pendulum --option pole_length=1.2 --minutes 2 -o long.json
  icct polish mine.json --task lunar-lander --minutes 8 -o better.json --resume
  icct polish mine.json --task lunar-lander --evaluations 1e5 --cluster auto -o better.json

BETTER is written when it beats POLICY on validation episodes beyond their noise; otherwise it is a
copy of POLICY, and the answer says so (status 1). While the run lasts, BETTER.journal remembers it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("policy", metavar="POLICY", help="a policy file or zoo:NAME")
    add_task_arguments(parser)
    budget = parser.add_mutually_exclusive_group(required=True)
    budget.add_argument("--minutes", type=float, metavar="M", help="how long to search")
    budget.add_argument(
        "--evaluations", type=whole, metavar="N", help="how many episodes to play; repeatable"
    )
    parser.add_argument(
        "--workers", type=int, metavar="W", help="processes that play (default: one for each core)"
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help=f"play on {CLUSTER}")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same search")
    parser.add_argument(
        "--objective", default="mean", help="mean (default) or worst-10%%: of the worst tenth"
    )
    parser.add_argument(
        "--properties",
        metavar="FILE",
        help="properties that must be proved of the result; they must hold for POLICY",
    )
    parser.add_argument(
        "--validation-episodes",
        type=int,
        default=100,
        metavar="N",
        help="episodes on which BETTER has to beat POLICY (default 100)",
    )
    parser.add_argument(
        "--report-episodes",
        type=int,
        default=100,
        metavar="N",
        help="fresh episodes to score both with at the end (default 100; 0: none)",
    )
    parser.add_argument("--resume", action="store_true", help="go on after a stop or a crash")
    parser.add_argument(
        "--force", action="store_true", help="begin anew where a run was stopped; write over POLICY"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with every return")
    parser.add_argument(
        "-o", "--output", required=True, type=Path, metavar="BETTER", help="the new policy file"
    )


def run(options: argparse.Namespace) -> int:
    """Polish, write the result and print what was found."""
    from icct.polish import PolishConfig, polish_to
    from icct.zoo import load_policy

    if not options.output.parent.is_dir():
        raise ConfigError(f"{options.output.parent} is not a folder; -o needs one that exists.")
    keep_inputs(options.output, options.policy, options.properties, force=options.force)
    config = PolishConfig(
        evaluations=options.evaluations,
        minutes=options.minutes,
        objective=options.objective,
        seed=options.seed,
        validation_episodes=options.validation_episodes,
        report_episodes=options.report_episodes,
    )
    policy = load_policy(options.policy)
    task = task_for(options, policy)
    if not options.resume and options.cluster is None:  # where little can be said beforehand
        _say_how_long(config, task, options.workers)
    with players(options) as pool, PolishDisplay() as display:
        result = polish_to(
            options.output,
            policy,
            task,
            config,
            resume=options.resume,
            force=options.force,
            workers=options.workers,
            pool=pool,
            accept=None if options.properties is None else holding(options.properties),
            progress=display,
        )
    print(json.dumps(result.as_dict(), indent=2) if options.json else result.as_text())
    if result.stopped:
        print("go on with the same command and --resume", file=sys.stderr)
        return STOPPED
    return 0 if result.improved else 1


def _say_how_long(config: "PolishConfig", task: "Task", workers: int | None) -> None:
    """Say what will be played and how long that takes here, at most."""
    from icct.cli.progress import say_estimate
    from icct.envs.pace import episodes_s

    cores = workers or len(os.sched_getaffinity(0))
    played = (config.evaluations or 0) + 2 * config.report_episodes
    seconds = 60 * (config.minutes or 0.0) + episodes_s(task, played, cores)
    say_estimate("search, check and report", seconds)
