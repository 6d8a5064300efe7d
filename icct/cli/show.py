"""`icct show POLICY`: a policy in words."""

import argparse
import json
from collections.abc import Sequence

from icct.errors import ObservationError, did_you_mean
from icct.policy import Policy
from icct.policy.file import policy_to_json
from icct.policy.text import describe, number, rules_text, tree_text
from icct.zoo import load_policy, zoo_summary

EXAMPLES = """examples:
  icct show zoo:ring-cruiser
  icct show zoo:ring-cruiser --rules
  icct show zoo:ring-cruiser --observation speed_ego=0.12
  icct show my-policy.json --json
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
        "the policy looks at, or one number for every feature in order",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")


def run(options: argparse.Namespace) -> int:
    """Print the policy."""
    policy = load_policy(options.policy)
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
    print(describe(policy), end="\n\n")
    print(rules_text(policy) if options.rules else tree_text(policy, path))
    if observation:
        units = {a.name: f" {a.unit}" if a.unit else "" for a in policy.actions}
        print("\n" + "\n".join(f"-> {k} = {number(v)}{units[k]}" for k, v in action.items()))
    return 0


def observation_from(policy: Policy, words: Sequence[str]) -> list[float]:
    """Return the observation that NAME=VALUE words, or plain numbers in order, describe."""
    names = [feature.name for feature in policy.features]
    if not any("=" in word for word in words):
        return [_number(word, f"number {i}") for i, word in enumerate(words)]
    values: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in names:
            raise ObservationError(
                f"--observation: {name!r} is not a feature of {policy.name}."
                f"{did_you_mean(name, names)}"
            )
        values[name] = _number(value, name)
    missing = [names[index] for index in policy.used_features if names[index] not in values]
    if missing:
        raise ObservationError(
            f"--observation: no value for {', '.join(missing)}, which {policy.name} looks at."
        )
    return [values.get(name, 0.0) for name in names]


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ObservationError(f"--observation: {where} is {text!r}, expected a number.") from None
