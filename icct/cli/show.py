"""`icct show POLICY`: a policy in words."""

import argparse
import json
import sys

from icct.cli.observation import observation_from
from icct.policy import Policy
from icct.policy.file import policy_to_json
from icct.policy.text import (
    describe,
    in_full,
    is_rounded,
    limit_text,
    rules_text,
    short,
    tree_text,
)
from icct.zoo import load_policy, zoo_summary

EXAMPLES = """examples:
  icct show zoo:ring-cruiser
  icct show zoo:ring-cruiser --rules
  icct show zoo:ring-cruiser --observation speed_ego=3.6m/s
  icct show zoo:ring-cruiser --observation speed_ego=0.12       the same, raw
  icct show my-policy.json --json
  icct show runs/lander/policies/seed-0.best.json --again
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help=f"a policy file, or zoo:NAME ({zoo_summary()})")
    parser.add_argument("--rules", action="store_true", help="one line per leaf, not a tree")
    parser.add_argument(
        "--observation",
        nargs="+",
        metavar="NAME=VALUE",
        help="mark the path of an observation and print the action: NAME=VALUE for every feature "
        "the policy looks at, or one number for every feature in order; raw or with its unit",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="write every digit, so that what is printed reads back as the same number",
    )
    parser.add_argument(
        "--again", action="store_true", help="print the command that makes it again, and no more"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")


def run(options: argparse.Namespace) -> int:
    """Print the policy."""
    policy = load_policy(options.policy)
    if options.again:
        return _print_command(policy)
    observation = options.observation and observation_from(policy, options.observation)
    path = policy.path(observation) if observation else ()
    action = (
        dict(zip((a.name for a in policy.actions), policy.act(observation), strict=True))
        if (observation)
        else {}
    )
    if options.json:
        content = json.loads(policy_to_json(policy))
        if observation:
            acted = {"path": list(path), "action": {k: float(v) for k, v in action.items()}}
            content = {"policy": content, **acted}
        print(json.dumps(content, indent=2))
        return 0
    write = in_full if options.exact else short
    print(describe(policy), end="\n\n")
    print(rules_text(policy, write) if options.rules else tree_text(policy, path, write=write))
    if not options.exact and is_rounded(policy):
        print("\n(numbers are rounded to three digits; --exact writes all of them)")
    if observation:
        print()
        units = {a.name: a.unit for a in policy.actions}
        for name, value in action.items():
            print(f"-> {name} = {limit_text(value, units[name], write)}")
    return 0


def _print_command(policy: Policy) -> int:
    """Print how to make a policy again; status 1 where it does not say."""
    from icct.remake import command_to_remake

    command = command_to_remake(policy.provenance)
    if command is None:
        print(
            f"{policy.name} does not say how to make it again: it was not just trained. What is "
            "known of it is what icct show prints.",
            file=sys.stderr,
        )
        return 1
    print(command)
    return 0
