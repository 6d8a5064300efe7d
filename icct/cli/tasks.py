"""`icct tasks`: the tasks that policies are trained for and evaluated on."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.task import NAMES
from icct.errors import ConfigError

if TYPE_CHECKING:
    from icct.envs.task import Task

EXAMPLES = """examples:
  icct tasks                     the built-in tasks in a table
  icct tasks figure-eight        one task with its features, actions and options
  icct tasks Pendulum-v1         any Gymnasium environment
  icct tasks plant:acc           a plant: a model that a small file describes, docs/plants.md
  icct tasks Pendulum-v1 --card -o pendulum.toml          write what is known of it, to edit
  icct tasks my_env.py:MyEnv --option size=3 --card -o my-task.toml
  icct tasks Hopper-v5 --play hopper.json --card -o hopper.toml
  icct tasks --json              the same for scripts

A task card is a TOML file with names, units, scales and bounds of features and actions; it is used
wherever a task is named: icct train pendulum.toml. Bounds that the environment leaves open are
measured in episodes with random actions and with what --play names, and widened by half.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("task", nargs="?", help=f"show this one in full: {NAMES}")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the environment",
    )
    parser.add_argument("--card", action="store_true", help="print or write its task card")
    parser.add_argument(
        "--play",
        action="append",
        default=[],
        metavar="ACTOR",
        help="measure bounds with this too: a policy or driver:NAME",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="CARD", help="the new card (TOML)")
    parser.add_argument("--force", action="store_true", help="write over a card that is there")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print the tasks."""
    from icct.envs.card import task_to_values
    from icct.envs.catalog import TASKS

    if options.task is None and (options.card or options.output or options.play or options.option):
        raise ConfigError("which task? Name one, such as icct tasks Pendulum-v1 --card.")
    chosen = [_named(options)] if options.task else list(TASKS.values())
    if options.card:
        return _write_card(chosen[0], options)
    if options.json:
        print(json.dumps([task_to_values(task) for task in chosen], indent=2))
        return 0
    print(describe(chosen[0]) if options.task else table(chosen))
    return 0


def _named(options: argparse.Namespace) -> "Task":
    from icct.envs.find import find_task, parse_options
    from icct.evaluate import load_actor

    task = find_task(options.task, parse_options(options.option))
    if not options.play:
        return task
    if task.built_in or options.task.endswith(".toml"):
        raise ConfigError(f"--play measures open bounds, and those of {task.name} are declared.")
    from icct.envs.task import Task

    return Task.from_env(
        task.environment,
        options=dict(task.options),
        drivers=[load_actor(named, task) for named in options.play],
    )


def _write_card(task: "Task", options: argparse.Namespace) -> int:
    from icct.envs.card import card_text
    from icct.files import write_atomically

    if options.output is None:
        print(card_text(task, Path()), end="")
        return 0
    if options.output.exists() and not options.force:
        raise ConfigError(f"{options.output} is there already, perhaps edited; see --force.")
    write_atomically(options.output, card_text(task, options.output.parent))
    print(f"{options.output}: {len(task.features)} features, {len(task.actions)} actions")
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
    from icct.envs.source import source_text

    lines = [f"{task.name}: {task.summary}".removesuffix(": "), ""]
    duration = "" if task.step_s is None else f" of {task.step_s:g} s"
    facts = [("episode", f"{task.horizon} steps{duration}")]
    if task.built_in:
        simulator = f'{task.simulator}; pip install "icct[{task.extra}]"'
        facts = [("id", task.gym_id), ("simulator", simulator), *facts]
        facts.append(("paper's returns", task.paper_returns))
    else:
        facts = [("environment", source_text(task.environment)), *facts]
    for name, values in (task.choices or {}).items():
        facts.append((f"option {name}", f"{values[0]} (default), {', '.join(values[1:])}"))
    facts += [(f"option {name}", str(value)) for name, value in task.options]
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
