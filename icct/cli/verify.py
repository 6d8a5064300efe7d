"""`icct verify POLICY "PROPERTY"`: proved, refuted with an observation, unknown, or vacuous."""

import argparse
import json

from icct.cli.colour import coloured
from icct.cli.properties import add_allow_vacuous, exit_status, warn_of_slips
from icct.errors import ConfigError
from icct.verify import Property, check, read_properties
from icct.zoo import load_policy

EXAMPLES = """examples:
  icct verify zoo:ring-cruiser "when speed_ego > 3.9 m/s then acceleration <= 0"
  icct verify zoo:ring-cruiser "when speed_ego > 0.13 then acceleration <= 0"      the same, raw
  icct verify zoo:ring-cruiser "abs(acceleration) <= 1" "acceleration < 0.5"
  icct verify zoo:lane-weaver --properties multi-lane-ring
  icct verify my-policy.json --properties my-properties.toml --json

A property is `CONDITION` or `when CONDITION then CONDITION`, over the names that `icct show` and
`icct tasks` print: linear expressions, < <= > >= = !=, and, or, not, abs(...). Numbers are raw, or
have the unit that `icct show` prints (3.9 m/s); then the answer states the raw property as well.
Exit status: 0 all proved; 1 some refuted; else 3 some undecided; else 4 some vacuous: their premise
holds for no observation inside the bounds, as after a slip of units (--allow-vacuous: 0).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument("property", nargs="*", help="what should always hold, in quotes")
    parser.add_argument(
        "--properties",
        action="append",
        default=[],
        metavar="FILE",
        help="a TOML file of named properties, or a task whose properties ship with icct",
    )
    add_allow_vacuous(parser)
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")


def run(options: argparse.Namespace) -> int:
    """Answer every question and print the answers."""
    policy = load_policy(options.policy)
    asked = [Property(text) for text in options.property]
    for source in options.properties:
        asked += read_properties(source)
    if not asked:
        raise ConfigError("nothing to verify: give a property in quotes, or --properties FILE.")
    answers = [check(policy, question) for question in asked]
    for question in asked:
        warn_of_slips(policy, question)
    if options.json:
        content = {"policy": policy.name, "answers": [answer.as_json() for answer in answers]}
        print(json.dumps(content, indent=2))
    else:
        print("\n".join(coloured(answer.as_text(), answer.word) for answer in answers))
    return exit_status(answers, options.allow_vacuous)
