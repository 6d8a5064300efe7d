"""`icct draw POLICY -o FILE`: the tree as a figure."""

import argparse

from icct.cli.inputs import keep_inputs
from icct.cli.observation import observation_from
from icct.errors import ConfigError
from icct.files import read_json, write_atomically
from icct.policy import Policy
from icct.zoo import load_policy

EXAMPLES = """examples:
  icct draw zoo:ring-cruiser -o cruiser.svg
  icct draw zoo:ring-cruiser --observation speed_ego=3.54m/s -o path.png
  icct evaluate my.json --task lunar-lander --json > evaluation.json
  icct draw my.json --usage evaluation.json -o usage.pdf        busy leaves in a deeper red
  icct draw my.json --all -o all.pdf                            also branches nobody reaches
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument(
        "--observation",
        nargs="+",
        metavar="NAME=VALUE",
        help="highlight the path of an observation, given as for icct show",
    )
    parser.add_argument(
        "--usage", metavar="FILE", help="shade leaves by their use: output of icct evaluate --json"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="draw branches that no observation inside the bounds, or no episode of --usage, "
        "reaches (default: one grey line each)",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="ends in .svg, .png or .pdf"
    )


def run(options: argparse.Namespace) -> int:
    """Draw, write, and print the name of the file."""
    from icct.draw import draw, write_figure

    keep_inputs(options.output, options.policy, options.usage, force=None)
    policy = load_policy(options.policy)
    path = policy.path(observation_from(policy, options.observation)) if options.observation else ()
    usage = usage_from(policy, options.usage) if options.usage else None
    figure = draw(policy, path=path, usage=usage, whole=options.all)
    write_atomically(options.output, write_figure(figure, options.output))
    print(options.output)
    return 0


def usage_from(policy: Policy, file: str) -> dict[int, int]:
    """Return leaf → steps from the output of `icct evaluate --json`."""
    content = read_json(
        file, "the output of icct evaluate --json, with leaf_visits", error=ConfigError
    )
    try:
        usage = {int(leaf): int(steps) for leaf, steps in content["leaf_visits"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(
            f"{file}: expected the output of icct evaluate --json, with leaf_visits."
        ) from None
    if set(usage) != set(policy.leaves):
        raise ConfigError(
            f"{file} counts the leaves {sorted(usage)}, but those of {policy.name} are "
            f"{list(policy.leaves)}: it is the evaluation of another policy."
        )
    return usage
