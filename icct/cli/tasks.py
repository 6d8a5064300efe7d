"""`icct tasks`: the tasks that policies are trained for and evaluated on."""

import argparse
import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icct.envs.catalog import Task

EXAMPLES = """examples:
  icct tasks                     all tasks in a table
  icct tasks figure-eight        one task with its features, actions and options
  icct tasks --json              the same for scripts
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("task", nargs="?", help="show this task in full")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print the tasks."""
    from icct.envs.catalog import TASKS, find_task

    chosen = [find_task(options.task)] if options.task else list(TASKS.values())
    if options.json:
        print(json.dumps([dataclasses.asdict(task) for task in chosen], indent=2))
        return 0
    print(describe(chosen[0]) if options.task else table(chosen))
    return 0


def table(tasks: "list[Task]") -> str:
    """Return one line per task."""
    rows = [("task", "id", "simulator", "features", "actions", "steps", "paper's returns")]
    for task in tasks:
        simulator = task.simulator.split(" (")[0]
        actions = ", ".join(action.name for action in task.actions)
        paper = task.paper_returns.split(" (")[0]
        features = str(len(task.features))
        rows.append(
            (task.name, task.gym_id, simulator, features, actions, str(task.horizon), paper)
        )
    return aligned(rows)


def describe(task: "Task") -> str:
    """Return everything about one task."""
    lines = [f"{task.name}: {task.summary}", ""]
    facts = [
        ("id", task.gym_id),
        ("simulator", f'{task.simulator}; pip install "icct[{task.extra}]"'),
        ("episode", f"{task.horizon} steps of {task.step_s:g} s"),
        ("paper's returns", task.paper_returns),
    ]
    for name, values in task.options.items():
        facts.append((f"option {name}", f"{values[0]} (default), {', '.join(values[1:])}"))
    rows = [("feature", "low", "high", "unit", "bounds")]
    for feature in task.features:
        low, high = f"{feature.low:g}", f"{feature.high:g}"
        rows.append((feature.name, low, high, feature.unit, feature.origin))
    actions = [("action", "low", "high", "unit")]
    for action in task.actions:
        actions.append((action.name, f"{action.low:g}", f"{action.high:g}", action.unit))
    return "\n".join([*lines, aligned(facts), "", aligned(rows), "", aligned(actions)])


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
