"""`icct robot`: a policy drives one of 14 robots on a figure eight, in the testbed's simulator."""

import argparse
from typing import TYPE_CHECKING

from icct.cli.inputs import keep_inputs
from icct.files import write_atomically
from icct.policy import Policy
from icct.zoo import load_policy

if TYPE_CHECKING:
    from icct.robot.run import Traffic

DEFAULT = "zoo:figure-eight-pacer"
REJECTED = 1

EXAMPLES = """examples:
  icct robot                                          3,000 steps, and what the verifier says
  icct robot --policy mine.json --compare 3           beside a fourteenth human, three seeds each
  icct robot --script submit.py                       the one file to submit to the testbed
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument(
        "--policy", default=DEFAULT, help=f"a policy file, or zoo:NAME (default {DEFAULT})"
    )
    parser.add_argument("--steps", type=int, default=3000, help="of 0.033 s (default 3000)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same run")
    parser.add_argument(
        "--compare",
        type=int,
        metavar="SEEDS",
        help="run so many seeds, each with the policy and with a human in its place",
    )
    parser.add_argument(
        "--drive-to-start",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="let the robots drive to where they begin, as the testbed does",
    )
    parser.add_argument("--script", metavar="FILE", help="only write the script for the testbed")


def run(options: argparse.Namespace) -> int:
    """Do what was asked and print how it went."""
    policy = load_policy(options.policy)
    if options.script:
        return write_script(policy, options)
    from icct.robot.run import table

    drivers = [policy] if options.compare is None else [policy, None]
    seeds = range(options.seed, options.seed + (options.compare or 1))
    runs = [driven(driver, seed, options) for driver in drivers for seed in seeds]
    rejected = [traffic for traffic in runs if traffic.violations.rejected]
    print(table(runs))
    for traffic in rejected or runs[:1]:
        print(traffic.verdict)
    return REJECTED if rejected else 0


def driven(policy: "Policy | None", seed: int, options: argparse.Namespace) -> "Traffic":
    """Return how one run went, with progress on stderr."""
    from icct.cli.progress import ProgressBar
    from icct.robot.run import run

    with ProgressBar(f"steps with {'a human' if policy is None else policy.name}") as progress:
        return run(
            policy,
            seed=seed,
            steps=options.steps,
            drive_to_start=options.drive_to_start,
            progress=progress,
        )


def write_script(policy: Policy, options: argparse.Namespace) -> int:
    """Write the file to submit and print its name."""
    from icct.robot.script import submission

    keep_inputs(options.script, options.policy, force=None)
    write_atomically(options.script, submission(policy, steps=options.steps, seed=options.seed))
    print(options.script)
    return 0
