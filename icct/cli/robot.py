"""`icct robot`: a policy drives one of 14 robots on a figure eight, in the testbed's simulator."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from icct.cli.inputs import keep_inputs
from icct.cli.progress import ProgressBar
from icct.errors import ConfigError
from icct.files import write_atomically
from icct.policy import Policy
from icct.zoo import load_policy

if TYPE_CHECKING:
    from icct.robot.traffic import Traffic

DEFAULT = "zoo:figure-eight-platoon"
REJECTED = 1

EXAMPLES = """examples:
  icct robot                                    3,000 steps, and what the testbed's verifier says
  icct robot --policy mine.json --compare 3     beside a fourteenth human, three seeds each
  icct robot -o robots.html                     the arena beside the lit tree; or .mp4, .gif
  icct robot --view                             the same live, in a browser
  icct robot --script submit.py                 the one file to submit to the testbed
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument(
        "--policy", default=DEFAULT, help=f"a policy file, or zoo:NAME (default {DEFAULT})"
    )
    parser.add_argument("--steps", type=int, default=3000, help="of 0.033 s (default 3000)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same run")
    parser.add_argument(
        "--drive-to-start",
        action=argparse.BooleanOptionalAction,
        help="let the robots drive to where they begin first, as the testbed does (default: yes, "
        "but not with --view)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--compare",
        type=int,
        metavar="SEEDS",
        help="run so many seeds, each with the policy and with a human in its place",
    )
    what.add_argument("-o", "--output", metavar="FILE", help="ends in .html, .mp4 or .gif")
    what.add_argument("--view", action="store_true", help="watch it live, in a browser")
    what.add_argument("--script", metavar="FILE", help="only write the script for the testbed")
    parser.add_argument("--port", type=int, default=0, help="of --view (default: any free one)")
    parser.add_argument(
        "--browser",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="with --view: open the page in a browser",
    )


def run(options: argparse.Namespace) -> int:
    """Do what was asked and print how it went."""
    if options.seed < 0:
        raise ConfigError(f"--seed {options.seed}: expected 0 or more.")
    policy = load_policy(options.policy)
    if options.script:
        return write_script(policy, options)
    if options.view:
        return watch(policy, options)
    runs = [recorded(policy, options)] if options.output else compared(policy, options)
    return report(runs)


def report(runs: "list[Traffic]") -> int:
    """Print the runs side by side and all that the verifier says of them."""
    from icct.robot.traffic import table

    print(table(runs))
    said = [line for traffic in runs for line in traffic.verdict.splitlines()[1:]]  # not how long
    print(*dict.fromkeys(said), sep="\n")
    return REJECTED if any(traffic.violations.rejected for traffic in runs) else 0


def compared(policy: Policy, options: argparse.Namespace) -> "list[Traffic]":
    """Return runs with the policy and, if asked for, as many with a human in its place."""
    from icct.robot.run import run

    if options.compare is not None and options.compare < 1:
        raise ConfigError(f"--compare {options.compare}: expected at least 1 seed.")
    seeds = range(options.seed, options.seed + (options.compare or 1))
    runs = []
    for driver in [policy] if options.compare is None else [policy, None]:
        for seed in seeds:
            with ProgressBar(f"steps, seed {seed}") as progress:
                runs.append(
                    run(
                        driver,
                        seed=seed,
                        steps=options.steps,
                        drive_to_start=options.drive_to_start is not False,
                        progress=progress,
                    )
                )
    return runs


def recorded(policy: Policy, options: argparse.Namespace) -> "Traffic":
    """Write the page or the film of a run, and return how the run went."""
    from icct.cli.recording import check_output, write_recording
    from icct.robot.scene import RobotScene, robot_show
    from icct.view.recording import record

    keep_inputs(options.output, options.policy, force=None)
    check_output(options.output)
    to_start = options.drive_to_start is not False
    show = robot_show(policy, steps=options.steps)
    scene = RobotScene(options.steps, drive_to_start=to_start)  # kept, to ask it afterwards
    with ProgressBar("steps") as progress:
        recording = record(
            replace(show, make=lambda: scene),
            options.seed,
            watch=lambda step: progress(step, options.steps),
        )
    write_recording(options.output, policy, recording)
    print(options.output)
    return scene.arena.traffic(policy.name)


def watch(policy: Policy, options: argparse.Namespace) -> int:
    """Serve the live view until Ctrl-C."""
    from icct.robot.scene import robot_show
    from icct.robot.simulator import testbed
    from icct.view.server import view
    from icct.view.source import Source

    testbed()  # say what is missing now, not in the browser
    to_start = options.drive_to_start is True
    show = robot_show(policy, steps=options.steps, drive_to_start=to_start)
    view(Source(show, seed=options.seed), port=options.port, browser=options.browser)
    return 0


def write_script(policy: Policy, options: argparse.Namespace) -> int:
    """Write the file to submit and print its name."""
    from icct.robot.script import submission

    keep_inputs(options.script, options.policy, force=None)
    write_atomically(options.script, submission(policy, steps=options.steps, seed=options.seed))
    print(options.script)
    return 0
