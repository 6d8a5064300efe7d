"""How a task is named and played on a command line: flags that are the same in several verbs."""

import argparse
import os
from typing import TYPE_CHECKING

from icct.errors import ConfigError

if TYPE_CHECKING:
    from icct.envs.actor import Actor
    from icct.envs.task import Task
    from icct.policy import Policy

NAMES = (
    "a built-in task, a Gymnasium id, MODULE:NAME, FILE.py:NAME, a task card (TOML), "
    "plant:NAME or a plant file (TOML)"
)


def add_task_arguments(parser: argparse.ArgumentParser, use: str = "what to run it on") -> None:
    """Add `--task` and `--option`."""
    parser.add_argument(
        "--task", help=f"{use} (default: what the policy remembers): {NAMES}; see icct tasks"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the task's environment",
    )


def add_playing_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--seed` and `--workers`, of a verb that plays episodes."""
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same result")
    parser.add_argument(
        "--workers",
        type=int,
        default=len(os.sched_getaffinity(0)),
        metavar="W",
        help="processes that play (default: as many as there are cores)",
    )


def task_for(options: argparse.Namespace, policy: "Policy") -> "Task":
    """Return the task that the flags name, or else the one that the policy remembers."""
    from icct.envs.find import find_task, parse_options, task_of

    chosen = parse_options(options.option)
    found = task_of(policy) if options.task is None else find_task(options.task, chosen)
    return found.with_options(chosen)


def actor_and_task(options: argparse.Namespace, named: str) -> "tuple[Actor, Task]":
    """Return what `named` is, a policy, another actor or a driver, and the task for it."""
    from icct.envs.drivers import PREFIX
    from icct.envs.find import find_task, parse_options
    from icct.evaluate import load_actor, read_named
    from icct.policy import Policy

    if options.task is None:
        actor = None if named.startswith(PREFIX) else read_named(named)
        if not isinstance(actor, Policy):
            raise ConfigError(f"{named} does not say what it was made for: name it with --task.")
        return actor, task_for(options, actor)
    task = find_task(options.task, parse_options(options.option))
    return load_actor(named, task), task
