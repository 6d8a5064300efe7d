"""Properties on a command line: what their answers mean together, and whether a policy has them."""

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from icct.cli.warn import warn
from icct.errors import PropertyError

if TYPE_CHECKING:
    from icct.envs.task import Task
    from icct.policy import Policy
    from icct.verify import Answer, Property

PROVED, REFUTED, UNDECIDED, VACUOUS = 0, 1, 3, 4  # exit statuses


def add_allow_vacuous(parser: argparse.ArgumentParser) -> None:
    """Declare the option that says what `exit_status` makes of vacuous properties."""
    parser.add_argument(
        "--allow-vacuous",
        action="store_true",
        help="exit with 0 also when the premise of a property is never satisfied",
    )


def exit_status(answers: "Iterable[Answer]", allow_vacuous: bool = False) -> int:
    """Return what the answers together mean as an exit status: the first of these that one is."""
    statuses = {"refuted": REFUTED, "unknown": UNDECIDED, "vacuous": VACUOUS}
    if allow_vacuous:
        del statuses["vacuous"]
    words = {answer.word for answer in answers}
    return next((status for word, status in statuses.items() if word in words), PROVED)


def warn_of_slips(policy: "Policy", question: "Property") -> None:
    """Warn of numbers beyond the bounds that would be inside them in another unit."""
    from icct.verify.physical import slips

    for warning in slips(policy, question.raw(policy).violation):
        warn(f"{question.name or question.text}: {warning}")


def holding(properties: str) -> "Callable[[Policy], bool]":
    """Return whether a policy has all properties of a file, as a function."""
    from icct.verify import Proved, check, read_properties

    questions = read_properties(properties)
    return lambda policy: all(isinstance(check(policy, q), Proved) for q in questions)


def properties_for(
    policy: "Policy", task: "Task | None", properties: str | None
) -> "list[Property]":
    """Return the properties that were named, or the task's that fit the policy."""
    from icct.verify.property import Property, read_properties, shipped_tasks

    if properties:
        named = list(read_properties(properties))
        for question in named:
            question.check_fits(policy)
        return named
    if task is not None and task.properties:
        asked = [Property(text, name, why) for name, text, why in task.properties]
        return [question for question in asked if _fits(question, policy)]
    name = policy.provenance.task if task is None else task.name
    return [q for q in read_properties(name) if _fits(q, policy)] if name in shipped_tasks() else []


def _fits(question: "Property", policy: "Policy") -> bool:
    try:
        question.check_fits(policy)
    except PropertyError:  # a feature that was renamed
        return False
    return True
