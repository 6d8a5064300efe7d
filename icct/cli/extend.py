"""`icct extend POLICY --task T -o LARGER`: new splits where probes show that they pay."""

import argparse
import json
import sys
from pathlib import Path

from icct.cli.flags import STOPPED
from icct.cli.inputs import keep_inputs
from icct.cli.task import add_playing_arguments, add_task_arguments, task_for

NOTHING_FOUND = 1
EXAMPLES = """examples:
  icct extend short.json --task multi-lane-ring --leaves 16 -o larger.json
  icct extend zoo:lunar-lander/icct-2-feature --leaves 10 --probes 1000 -o larger.json
  icct extend short.json --task multi-lane-ring --leaves 16 -o larger.json --resume

Episodes are played again with one action's rule shifted for a while, from everywhere. Where that
gained, the leaf is split, and the rule inside shifted. Polish the result: it moves the new numbers.
Exit status 1: nothing was found, and the new file is a copy. While the run lasts, LARGER.journal
remembers it: --resume goes on after a stop.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", metavar="POLICY", help="a policy file or zoo:NAME")
    add_task_arguments(parser)
    parser.add_argument(
        "--leaves", type=int, required=True, metavar="N", help="that it may have in the end"
    )
    parser.add_argument(
        "--probes", type=int, default=600, metavar="N", help="episodes of a round (default 600)"
    )
    parser.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="additions at most (default 3)"
    )
    parser.add_argument(
        "--episodes", type=int, default=64, metavar="N", help="to choose by (default 64)"
    )
    add_playing_arguments(parser)
    parser.add_argument("--resume", action="store_true", help="go on after a stop or a crash")
    parser.add_argument(
        "--force", action="store_true", help="begin anew where a run was stopped; write over POLICY"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "-o", "--output", required=True, type=Path, metavar="LARGER", help="the new policy file"
    )


def run(options: argparse.Namespace) -> int:
    """Extend, write the result and print what was added."""
    from icct.cli.progress import ProgressBar, say_estimate
    from icct.envs.episodes import mean_and_error
    from icct.envs.pace import episodes_s
    from icct.polish import ExtendConfig, extend_to
    from icct.zoo import load_policy

    keep_inputs(options.output, options.policy, force=options.force)
    config = ExtendConfig(
        leaves=options.leaves,
        seed=options.seed,
        probes=options.probes,
        rounds=options.rounds,
        episodes=options.episodes,
    )
    policy = load_policy(options.policy)
    task = task_for(options, policy)
    most = config.most_episodes
    say_estimate(f"at most {most:,} episodes", episodes_s(task, most, options.workers))
    try:
        with ProgressBar("episodes at most") as progress:
            result = extend_to(
                options.output,
                policy,
                task,
                config,
                resume=options.resume,
                force=options.force,
                workers=options.workers,
                progress=progress,
            )
    except KeyboardInterrupt:
        print("stopped; go on with the same command and --resume", file=sys.stderr)
        return STOPPED
    if options.json:
        print(json.dumps(result.as_dict(), indent=2))
    else:
        for change in result.changes:
            print(f"  {change}")
        if result.changes:
            scores = [mean_and_error(values) for values in (result.before, result.after)]
            told = ", ".join("{:.2f} ± {:.2f}".format(*score) for score in scores)
            print(f"return before and after: {told} ({len(result.before)} episodes)")
        kept = "" if result.improved else "nothing that surely pays was found; "
        print(f"{kept}leaves {len(policy.leaves)} -> {len(result.policy.leaves)}")
        print(f"written to {options.output}")
    return 0 if result.improved else NOTHING_FOUND
