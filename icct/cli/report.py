"""`icct report POLICY -o report.html`: all that is known about a policy, on one page."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.inputs import keep_inputs
from icct.errors import PropertyError
from icct.files import write_atomically
from icct.policy import Policy
from icct.zoo import PREFIX, load_policy

if TYPE_CHECKING:
    from icct.evaluate import Evaluation
    from icct.verify import Property

EXAMPLES = """examples:
  icct report zoo:ring-cruiser -o cruiser.html
  icct report zoo:ring-cruiser --task single-lane-ring --episodes 20 -o cruiser.html
  icct report runs/lander/policies/seed-0.best.json --task lunar-lander -o lander.html
  icct report my.json --properties my-properties.toml -o my.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument("--task", help="run episodes on it, and ask the task's properties")
    parser.add_argument("--episodes", type=int, default=20, help="how many (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same numbers")
    parser.add_argument("--workers", type=int, default=1, help="processes to share the episodes")
    parser.add_argument(
        "--properties",
        metavar="FILE",
        help="properties to check (default: those shipped for the task, where there are some)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the new HTML file")


def run(options: argparse.Namespace) -> int:
    """Find out what there is to say, write the page, and print its name."""
    from icct.verify import check, measure
    from icct.view import page
    from icct.view.curve import training_curves

    keep_inputs(options.output, options.policy, options.properties, force=None)
    policy = load_policy(options.policy)
    questions = properties_for(policy, options)  # refused before minutes of episodes
    evaluation = evaluated(policy, options) if options.task else None
    shipped = options.policy.startswith(PREFIX)
    text = page(
        policy,
        measure(policy),
        evaluation=evaluation,
        answers=[check(policy, question) for question in questions],
        curves=() if shipped else training_curves(policy, Path(options.policy)),
    )
    write_atomically(options.output, text)
    print(options.output)
    return 0


def properties_for(policy: Policy, options: argparse.Namespace) -> "list[Property]":
    """Return the properties that were named, or those shipped for the task that fit the policy."""
    from icct.verify.property import read_properties, shipped_tasks

    if options.properties:
        named = list(read_properties(options.properties))
        for question in named:
            question.check_fits(policy)
        return named
    task = options.task or policy.provenance.task
    return [q for q in read_properties(task) if _fits(q, policy)] if task in shipped_tasks() else []


def _fits(question: "Property", policy: Policy) -> bool:
    try:
        question.check_fits(policy)
    except PropertyError:  # a feature that was renamed
        return False
    return True


def evaluated(policy: Policy, options: argparse.Namespace) -> "Evaluation":
    """Return what episodes on the task gave."""
    from icct.cli.progress import ProgressBar
    from icct.evaluate import evaluate

    with ProgressBar("episodes") as progress:
        return evaluate(
            policy,
            options.task,
            episodes=options.episodes,
            seed=options.seed,
            workers=options.workers,
            progress=progress,
        )
