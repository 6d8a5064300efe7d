"""`icct audit POLICY --task T`: run a policy and say what looks odd."""

import argparse
import json

from icct.cli.task import add_task_arguments, task_for

EXAMPLES = """examples:
  icct audit zoo:lane-keeper --task lane-keeping --episodes 5
  icct audit my-policy.json --task lunar-lander --episodes 20 --saturation 80 --json

Remarks on leaves never visited, observations outside the declared bounds, observations exactly on
a threshold, actions often at their limits, and rules that are not alike in a mirror where the task
is. Exit status: 0 nothing to remark, 1 something.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    add_task_arguments(parser)
    parser.add_argument("--episodes", type=int, default=10, help="how many (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same numbers")
    parser.add_argument(
        "--saturation",
        type=float,
        default=50.0,
        metavar="PERCENT",
        help="remark on an action that is at a limit in more than so many steps (default 50)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")


def run(options: argparse.Namespace) -> int:
    """Audit and print."""
    from icct.audit import audit
    from icct.cli.how_long import say_episodes
    from icct.cli.progress import ProgressBar
    from icct.zoo import load_policy

    policy = load_policy(options.policy)
    task = task_for(options, policy)
    task.check_fits(policy)
    say_episodes(task, options.episodes)
    with ProgressBar("episodes") as progress:
        result = audit(
            policy,
            task,
            episodes=options.episodes,
            seed=options.seed,
            saturation=options.saturation / 100,
            progress=progress,
        )
    print(json.dumps(result.as_json(), indent=2) if options.json else result.as_text())
    return 1 if result.findings else 0
