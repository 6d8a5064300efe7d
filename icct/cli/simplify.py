"""`icct simplify POLICY -o NEW`: less to read, and a bound on what it changes."""

import argparse

from icct.cli.inputs import keep_inputs
from icct.policy.file import write_policy
from icct.policy.simplify import simplify
from icct.zoo import load_policy

EXAMPLES = """examples:
  icct simplify my-policy.json -o smaller.json                  exact inside the bounds
  icct simplify my-policy.json --decimals 2 -o rounded.json     prints how far actions can move
  icct simplify my-policy.json --drop-below 0.01 -o sparse.json
  icct simplify my-policy.json --within 0.05 -o short.json      as short as 0.05 allows
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument("--decimals", type=int, metavar="N", help="round all numbers to N decimals")
    parser.add_argument(
        "--drop-below", type=float, metavar="X", help="drop leaf weights smaller than X"
    )
    parser.add_argument(
        "--within",
        type=float,
        metavar="X",
        help="merge leaves, drop features and round as long as no action differs by more than X",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the new policy file")
    parser.add_argument("--force", action="store_true", help="-o may be POLICY itself")


def run(options: argparse.Namespace) -> int:
    """Simplify, write, and print what changed."""
    keep_inputs(options.output, options.policy, force=options.force)
    simpler, report = simplify(
        load_policy(options.policy),
        decimals=options.decimals,
        drop_below=options.drop_below,
        within=options.within,
    )
    write_policy(simpler, options.output)
    print(report)
    return 0
