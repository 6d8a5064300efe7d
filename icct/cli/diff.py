"""`icct diff A B`: the largest difference of two policies, and where they act alike."""

import argparse
import json

from icct.errors import PolicyError
from icct.policy.difference import ROUNDING, difference
from icct.zoo import load_policy

EXAMPLES = """examples:
  icct diff zoo:ring-cruiser mine.json
  icct diff zoo:ring-cruiser mine.json --json

Exit status: 0 when the two act alike inside the declared bounds of A, else 1.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("before", metavar="A", help="a policy file, or zoo:NAME")
    parser.add_argument("after", metavar="B", help="a policy file, or zoo:NAME")
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")


def run(options: argparse.Namespace) -> int:
    """Compare and print."""
    before, after = load_policy(options.before), load_policy(options.after)
    names, others = (
        [part.name for parts in (policy.features, policy.actions) for part in parts]
        for policy in (before, after)
    )
    for name, other in zip(names, others, strict=False):
        if name != other:
            raise PolicyError(
                f"{before.name} has {name!r} where {after.name} has {other!r}; policies "
                "must have the same features and actions in the same order. See icct edit --rename."
            )
    found = difference(before, after)
    print(json.dumps(found.as_json(), indent=2) if options.json else found.as_text(before, after))
    return 1 if found.largest > ROUNDING else 0
