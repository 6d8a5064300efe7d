"""`icct prune POLICY --task T -o SHORTER`: less to read, as long as the return does not fall."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.inputs import keep_inputs
from icct.cli.task import add_playing_arguments, add_task_arguments, task_for

if TYPE_CHECKING:
    from icct.polish import Pruned

EXAMPLES = """examples:
  icct prune better.json --task lunar-lander -o short.json
  icct prune better.json --task lane-keeping --episodes 50 -o short.json
  icct prune mine.json --task single-lane-ring --properties safe.toml -o short.json

Branches out of reach, leaves that no episode reaches, weights of little effect, values far beyond
saturation and digits go, as much of each as the return on the same validation episodes allows. What
`icct simplify` does is exact for all observations and plays nothing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", metavar="POLICY", help="a policy file or zoo:NAME")
    add_task_arguments(parser)
    parser.add_argument(
        "--episodes", type=int, default=100, metavar="N", help="validation episodes (default 100)"
    )
    add_playing_arguments(parser)
    parser.add_argument(
        "--properties", metavar="FILE", help="properties that must be proved of the result"
    )
    parser.add_argument("--force", action="store_true", help="write over POLICY")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "-o", "--output", required=True, type=Path, metavar="SHORTER", help="the new policy file"
    )


def run(options: argparse.Namespace) -> int:
    """Prune, write the result and print what went."""
    from icct.cli.progress import ProgressBar, say_estimate
    from icct.cli.properties import holding
    from icct.envs.pace import episodes_s
    from icct.policy.file import write_policy
    from icct.polish import prune
    from icct.polish.prune import most_episodes
    from icct.zoo import load_policy

    keep_inputs(options.output, options.policy, options.properties, force=options.force)
    policy = load_policy(options.policy)
    task = task_for(options, policy)
    most = most_episodes(options.episodes)
    say_estimate(f"at most {most:,} episodes", episodes_s(task, most, options.workers))
    with ProgressBar("episodes at most") as progress:
        result = prune(
            policy,
            task,
            seed=options.seed,
            episodes=options.episodes,
            workers=options.workers,
            accept=None if options.properties is None else holding(options.properties),
            progress=progress,
        )
    write_policy(result.policy, options.output)
    if options.json:
        sizes = {"parameters": [policy.parameter_count, result.policy.parameter_count]}
        print(json.dumps(sizes | result.as_dict(), indent=2))
    else:
        leaves = f"{len(policy.leaves)} -> {len(result.policy.leaves)}"
        parameters = f"{policy.parameter_count} -> {result.policy.parameter_count}"
        print(f"leaves {leaves}, parameters {parameters}\n{_as_text(result)}")
        print(f"written to {options.output}")
    return 0


def _as_text(result: "Pruned") -> str:
    from icct.envs.episodes import mean_and_error

    scores = [
        "{:.2f} ± {:.2f}".format(*mean_and_error(values))
        for values in (result.before, result.after)
    ]
    went = "\n".join(f"  {change}" for change in result.changes) or "  nothing could go"
    return f"return {scores[0]} before, {scores[1]} after ({len(result.before)} episodes)\n{went}"
