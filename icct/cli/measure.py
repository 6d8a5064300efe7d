"""`icct measure POLICY`: ranges, jumps, slopes and trends over all observations in the bounds."""

import argparse
import json

from icct.cli.observation import observation_from
from icct.verify import measure, robustness
from icct.zoo import load_policy

EXAMPLES = """examples:
  icct measure zoo:ring-cruiser
  icct measure zoo:ring-cruiser --json
  icct measure zoo:ring-cruiser --observation speed_ego=0.12 --delta 0.3

With --observation: how far every feature may be off before the tree takes another path, and
before an action moves by more than --delta.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument(
        "--observation",
        nargs="+",
        metavar="NAME=VALUE",
        help="measure around this observation, given as for icct show",
    )
    parser.add_argument(
        "--delta", type=float, default=0.1, metavar="X", help="how far actions may move (0.1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")


def run(options: argparse.Namespace) -> int:
    """Measure and print."""
    policy = load_policy(options.policy)
    measured = (
        robustness(policy, observation_from(policy, options.observation), options.delta)
        if options.observation
        else measure(policy)
    )
    print(json.dumps(measured.as_json(), indent=2) if options.json else measured.as_text())
    return 0
