"""`icct edit POLICY --set ... -o NEW`: change a policy by hand."""

import argparse
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from icct.cli.colour import coloured_cells
from icct.cli.inputs import keep_inputs
from icct.cli.properties import add_allow_vacuous, exit_status, warn_of_slips
from icct.cli.warn import warn
from icct.errors import PolicyError
from icct.policy import Policy
from icct.policy.difference import difference
from icct.policy.edit import (
    Report,
    rename,
    replace_subtree,
    set_bias,
    set_threshold,
    set_weight,
    subtree_of,
)
from icct.policy.file import write_policy
from icct.policy.given import unreachable
from icct.verify import read_properties
from icct.verify.compare import compare
from icct.zoo import load_policy

if TYPE_CHECKING:
    from icct.evaluate import Evaluation

EXAMPLES = """examples (node numbers are those of `icct show`):
  icct edit zoo:ring-cruiser --set "node 0 threshold = 3.3 m/s" -o mine.json
  icct edit zoo:ring-cruiser --set "node 0 threshold = 0.11" -o mine.json      the same, raw
  icct edit mine.json --set "node 3 acceleration bias = 34.5" -o softer.json
  icct edit mine.json --set "node 3 acceleration speed_ego weight = -9 m/s^2 per m/s" -o softer.json
  icct edit mine.json --replace "node 2 = node 3" -o smaller.json
  icct edit mine.json --rename speed_ego=speed_own -o renamed.json
  icct edit zoo:ring-cruiser --set "node 2 threshold = 0.2" \\
      --check single-lane-ring --evaluate 3 -o mine.json

With --check, exit status 0 means that all properties are proved for the new policy, 1 that one is
refuted, 3 that one is undecided, 4 that one is vacuous. The new file is written in any case.
"""

THRESHOLD = re.compile(r"node (\d+) threshold = (.+)")
BIAS = re.compile(r"node (\d+) (\w+) bias = (.+)")
WEIGHT = re.compile(r"node (\d+) (\w+) (\w+) weight = (.+)")
REPLACE = re.compile(r"node (\d+) = node (\d+)\Z")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="CHANGE",
        help='"node N threshold = X", "node N ACTION bias = X" or '
        '"node N ACTION FEATURE weight = X", with X raw or with its unit; may be given several '
        "times",
    )
    parser.add_argument(
        "--replace",
        action="append",
        default=[],
        metavar="CHANGE",
        help='"node N = node M": put a copy of M, and all below it, in the place of N',
    )
    parser.add_argument(
        "--rename", action="append", default=[], metavar="OLD=NEW", help="a feature's or action's"
    )
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="FILE",
        help="properties to prove before and after: a TOML file, or a task with shipped ones",
    )
    add_allow_vacuous(parser)
    parser.add_argument(
        "--evaluate",
        type=int,
        metavar="N",
        help="run N episodes of the policy's task before and after, with the same seeds",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the new policy file")
    parser.add_argument("--force", action="store_true", help="-o may be POLICY itself")


def run(options: argparse.Namespace) -> int:
    """Apply the changes in the order set, replace, rename; write the result; say what it did."""
    keep_inputs(options.output, options.policy, *options.check, force=options.force)
    asked = [question for source in options.check for question in read_properties(source)]
    before = edited = load_policy(options.policy)
    changes: list[str] = []
    for text in options.set:
        edited, report = apply_set(edited, text)
        changes += report.changes
    for text in options.replace:
        edited, report = apply_replace(edited, text)
        changes += report.changes
    if options.rename:
        names = dict(text.partition("=")[::2] for text in options.rename)
        edited, report = rename(edited, names)
        changes += report.changes
        before, _ = rename(before, names)  # so that --check finds the same names in both
    if not changes:
        raise PolicyError("nothing to do: give --set, --replace or --rename.")
    compared = compare(before, edited, asked)
    for question in asked:
        warn_of_slips(edited, question)
    rows = [comparison.row for comparison in compared]
    if options.evaluate is not None:
        rows += returns_of(before, edited, options.evaluate)
    write_policy(edited, options.output)
    print(Report(tuple(changes), difference(before, edited).actions))
    if rows:
        print()
        print(coloured_cells(table([("", "before", "after"), *rows])))
    return exit_status((comparison.after for comparison in compared), options.allow_vacuous)


def returns_of(before: Policy, after: Policy, episodes: int) -> list[tuple[str, str, str]]:
    """Return rows that compare what two policies return on the task they are for."""
    from icct.cli.progress import ProgressBar
    from icct.envs.find import task_of
    from icct.evaluate import evaluate

    task = task_of(before)
    results = []
    for policy in (before, after):
        with ProgressBar("episodes") as progress:
            results.append(evaluate(policy, task, episodes=episodes, progress=progress))
    one, other = results
    rows = [(f"return on {task.title}", _mean(one), _mean(other))]
    if task.collision:
        rows.append(("collisions", str(one.collisions), str(other.collisions)))
    return rows


def table(rows: Sequence[tuple[str, str, str]]) -> str:
    """Return three columns as lines of text."""
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return "\n".join(
        f"{first:<{widths[0]}}  {second:<{widths[1]}}  {third}".rstrip()
        for first, second, third in rows
    )


def apply_set(policy: Policy, text: str) -> tuple[Policy, Report]:
    """Return the policy with one change of a number, written as in `--set`."""
    words = " ".join(text.replace("=", " = ").split())
    if match := THRESHOLD.fullmatch(words):
        return _set_threshold(policy, int(match[1]), match[2])
    if match := BIAS.fullmatch(words):
        return set_bias(policy, int(match[1]), match[2], match[3])
    if match := WEIGHT.fullmatch(words):
        return set_weight(policy, int(match[1]), match[2], match[3], match[4])
    raise PolicyError(
        f'--set {text!r}: expected "node N threshold = X", "node N ACTION bias = X" or '
        '"node N ACTION FEATURE weight = X".'
    )


def _set_threshold(policy: Policy, node: int, text: str) -> tuple[Policy, Report]:
    edited, report = set_threshold(policy, node, text)
    split = edited.split(node)
    if warning := unreachable(edited.features[split.feature], split.threshold):
        warn(f"node {node}: {warning}")
    return edited, report


def apply_replace(policy: Policy, text: str) -> tuple[Policy, Report]:
    """Return the policy with one subtree copied over another, written as in `--replace`."""
    match = REPLACE.match(" ".join(text.replace("=", " = ").split()))
    if not match:
        raise PolicyError(f'--replace {text!r}: expected "node N = node M".')
    return replace_subtree(policy, int(match[1]), subtree_of(policy, int(match[2])))


def _mean(result: "Evaluation") -> str:
    error = result.standard_error
    return f"{result.mean:.2f}" + ("" if math.isnan(error) else f" ± {error:.2f}")
