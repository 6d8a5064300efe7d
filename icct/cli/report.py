"""`icct report POLICY -o report.html`: all that is known about a policy, on one page."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.inputs import keep_inputs
from icct.cli.properties import properties_for, warn_of_slips
from icct.cli.task import add_task_arguments, task_for
from icct.files import write_atomically
from icct.policy import Policy
from icct.zoo import PREFIX, load_policy

if TYPE_CHECKING:
    from icct.envs.task import Task
    from icct.evaluate import Evaluation
    from icct.view.guarantees import Drawn

EXAMPLES = """examples:
  icct report zoo:ring-cruiser -o cruiser.html
  icct report zoo:ring-cruiser --task single-lane-ring --episodes 20 -o cruiser.html
  icct report runs/lander/policies/seed-0.json --task lunar-lander -o lander.html
  icct report zoo:lunar-lander/icct-2-feature --task lunar-lander --recording -o lander.html
  icct report my.json --properties my-properties.toml -o my.html
  icct report zoo:plant/acc --plant plant:acc -o acc.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    add_task_arguments(parser, "run episodes on it, and ask its properties")
    parser.add_argument(
        "--episodes", type=int, help="run so many (default: 20 with --task, otherwise none)"
    )
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same numbers")
    parser.add_argument("--workers", type=int, default=1, help="processes to share the episodes")
    parser.add_argument(
        "--properties",
        metavar="FILE",
        help="properties to check (default: those shipped for the task, where there are some)",
    )
    parser.add_argument(
        "--recording", action="store_true", help="embed the first episode, with the lit tree"
    )
    parser.add_argument(
        "--plant",
        metavar="FILE",
        help="ask the questions of a plant file or plant:NAME, draw tubes",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the new HTML file")


def run(options: argparse.Namespace) -> int:
    """Find out what there is to say, write the page, and print its name."""
    from icct.verify import check, measure
    from icct.view import page
    from icct.view.curve import training_curves

    keep_inputs(options.output, options.policy, options.properties, force=None)
    policy = load_policy(options.policy)
    wanted = options.task is not None or options.episodes is not None or options.recording
    task = task_for(options, policy) if wanted else None
    questions = properties_for(policy, task, options.properties)  # before minutes of episodes
    for question in questions:
        warn_of_slips(policy, question)
    evaluation = None if task is None else evaluated(policy, task, options)
    shipped = options.policy.startswith(PREFIX)
    text = page(
        policy,
        measure(policy),
        evaluation=evaluation,
        answers=[check(policy, question) for question in questions],
        curves=() if shipped else training_curves(policy, Path(options.policy)),
        recording=recorded(policy, task, evaluation)
        if task and evaluation and options.recording
        else None,
        guarantees=[] if options.plant is None else guaranteed(policy, options),
    )
    write_atomically(options.output, text)
    print(options.output)
    return 0


def recorded(policy: Policy, task: "Task", evaluation: "Evaluation") -> str:
    """Return a page that plays the first of the episodes."""
    from icct.view.recording import record, recording_page
    from icct.view.task_simulation import task_show

    return recording_page(record(task_show(policy, task), evaluation.episodes[0].seed))


def guaranteed(policy: Policy, options: argparse.Namespace) -> "list[Drawn]":
    """Return the answers to a plant's questions, with pictures of the tubes."""
    from icct.draw import write_figure
    from icct.guarantee import Asked, Proved, guarantee
    from icct.guarantee.figure import draw_tube
    from icct.plant import read_plant

    plant = read_plant(options.plant)
    drawn: list[Drawn] = []
    for question in plant.questions:
        asked = Asked(question, plant.start, to_the_end=True)
        answer = guarantee(plant, policy, asked, workers=options.workers)
        picture = None
        if isinstance(answer, Proved):
            picture = write_figure(draw_tube(answer, policy), "tube.png")
        drawn.append((answer, picture))
    return drawn


def evaluated(policy: Policy, task: "Task", options: argparse.Namespace) -> "Evaluation":
    """Return what episodes on the task gave."""
    from icct.cli.progress import ProgressBar
    from icct.evaluate import evaluate

    with ProgressBar("episodes") as progress:
        return evaluate(
            policy,
            task,
            episodes=20 if options.episodes is None else options.episodes,
            seed=options.seed,
            workers=options.workers,
            progress=progress,
        )
