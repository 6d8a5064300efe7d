"""Task ↔ task card: a TOML file to edit, with names, units, scales, bounds and how to make it.

The same values, as JSON, are what a run remembers of a user's task. A policy remembers less: its
features and actions are in it already.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from icct.envs.source import source_text
from icct.envs.task import Task
from icct.errors import PolicyError, TaskError, did_you_mean
from icct.files import naming, read_toml
from icct.policy import Action, Feature
from icct.policy.parts import Scalar

FORMAT = "icct-task"
VERSION = 1
TOP = (
    *("format", "version", "name", "summary", "environment", "horizon", "step_s", "collision"),
    *("per_process", "options", "features", "actions", "properties", "train"),
)
PART = ("name", "unit", "scale", "low", "high", "origin")
Values = dict[str, Any]


def read_card(path: Path) -> Task:
    """Return the task of a card; a file of code that it names lies relative to the card."""
    values = read_toml(path, "a task card", error=TaskError)
    with naming(path, TaskError):
        task = task_from_values(values)
    place, colon, name = str(task.environment).rpartition(":")
    if colon and place.endswith(".py"):
        return replace(task, environment=f"{(path.parent / place).resolve()}:{name}")
    return task


def task_from_values(values: Mapping[str, Any]) -> Task:
    """Return the task that the values of a card describe, or say what is wrong with them."""
    _check_keys(values, TOP, "the card")
    if values.get("format") != FORMAT or values.get("version") != VERSION:
        raise TaskError(
            f"format and version are {values.get('format')!r} and {values.get('version')!r}, "
            f"expected {FORMAT!r} and {VERSION}: icct tasks ENVIRONMENT --card writes such a file."
        )
    optional = {
        "step_s": _take(values, "step_s", float, None),
        "collision": _take(values, "collision", str, None),
        "per_process": _take(values, "per_process", int, None),
        "summary": _take(values, "summary", str, ""),
    }
    return Task(
        name=_take(values, "name", str),
        environment=_take(values, "environment", str),
        features=tuple(_parts(values, "features", _feature)),
        actions=tuple(_parts(values, "actions", _action)),
        horizon=_take(values, "horizon", int),
        options=tuple(_scalars(_take(values, "options", dict, {}))),
        preset=tuple(_take(values, "train", dict, {}).items()),
        properties=tuple(_properties(_take(values, "properties", dict, {}))),
        **optional,
    )


def task_to_values(task: Task) -> Values:
    """Return the values of a task's card, ready for JSON; `task_from_values` reads them."""
    values: Values = {
        "format": FORMAT,
        "version": VERSION,
        "name": task.name,
        "summary": task.summary,
        "environment": source_text(task.environment),
        "horizon": task.horizon,
        "step_s": task.step_s,
        "collision": task.collision,
        "per_process": task.per_process,
        "options": dict(task.options),
        "features": [
            {"name": f.name, "unit": f.unit, "low": f.low, "high": f.high, "origin": f.origin}
            for f in task.features
        ],
        "actions": [
            {"name": a.name, "unit": a.unit, "low": a.low, "high": a.high} for a in task.actions
        ],
        "properties": {n: {"property": text, "why": why} for n, text, why in task.properties},
        "train": dict(task.preset),
    }
    return {key: value for key, value in values.items() if value not in (None, "", {}, [])}


def card_text(task: Task, folder: Path) -> str:
    """Return a task card to edit; files of code are named relative to the folder it goes to."""
    values = task_to_values(task)
    place, colon, name = values["environment"].rpartition(":")
    if colon and place.endswith(".py"):
        values["environment"] = f"{os.path.relpath(Path(place).resolve(), folder.resolve())}:{name}"
    lines = [HEAD.format(name=task.name)]
    for key in ("format", "version", "name", "summary", "environment", "horizon", "step_s"):
        if key in values:
            lines.append(f"{key} = {_toml(values[key])}")
    lines.append(
        f"collision = {_toml(task.collision)}"
        if task.collision
        else '# collision = "crashed"  # the key of `info` that is true when an episode ends in one'
    )
    if task.per_process:
        lines.append(f"per_process = {task.per_process}  # environments that one process can hold")
    if task.options:
        lines += ["", "[options]  # keywords that the environment is made with"]
        lines += [f"{_key(name)} = {_toml(value)}" for name, value in task.options]
    for kind, note in (("features", FEATURES), ("actions", ACTIONS)):
        lines += ["", note.rstrip()]
        for part in values[kind]:
            lines += ["", f"[[{kind}]]"]
            lines += [f"{key} = {_toml(value)}" for key, value in part.items()]
    lines += ["", TAIL.rstrip()]
    return "\n".join(lines) + "\n"


HEAD = """# The task card of {name}: what icct knows of it. Edit names, units and bounds,
# then use this file wherever a task is asked for: icct train CARD.toml"""
FEATURES = """
# The numbers of an observation, in order. `unit` is for people; where the environment observes a
# scaled number, `scale` says what to multiply it by to get that unit. `origin` says how far the
# bounds can be trusted: space (the environment declares them), physical (they follow from the
# physics) or measured (seen in episodes, widened by half of their range on both sides)."""
ACTIONS = """
# The numbers of an action, in order; low and high are what the environment takes."""
TAIL = """
# What must hold of every policy; `icct verify POLICY --properties CARD.toml` proves or refutes it.
# [properties.brakes-when-close]
# property = "when gap < 5 then acceleration <= 0"
# why = "There is no room to stop otherwise."

# Hyperparameters of training, where the generic ones do not do; see icct train --help.
# [train]
# gamma = 0.99"""


def _feature(part: Mapping[str, Any], where: str) -> Feature:
    return Feature(
        _take(part, "name", str, where=where),
        _unit(part, where),
        _take(part, "low", float, where=where),
        _take(part, "high", float, where=where),
        _take(part, "origin", str, "physical", where=where),
    )


def _action(part: Mapping[str, Any], where: str) -> Action:
    if "origin" in part:
        raise TaskError(f"{where}: an action has no 'origin'; its limits are the environment's.")
    return Action(
        _take(part, "name", str, where=where),
        _unit(part, where),
        _take(part, "low", float, where=where),
        _take(part, "high", float, where=where),
    )


def _unit(part: Mapping[str, Any], where: str) -> str:
    """Return the unit with its scale as features have it: `x 30 m/s`."""
    unit, scale = _take(part, "unit", str, "", where=where), part.get("scale", 1)
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 < scale < 1e300:
        raise TaskError(f"{where}: scale is {scale!r}, expected a positive number.")
    return unit if scale == 1 else f"x {scale:.17g} {unit}".rstrip()


def _parts(values: Mapping[str, Any], key: str, make: Callable[..., Any]) -> list[Any]:
    found = []
    for place, part in enumerate(_take(values, key, list)):
        where = f"[[{key}]] number {place}"
        if not isinstance(part, dict):
            raise TaskError(f"{where} is {type(part).__name__}, expected a table.")
        _check_keys(part, PART, where)
        try:
            found.append(make(part, where))
        except PolicyError as error:  # what a feature or an action refuses
            raise TaskError(str(error)) from None
    return found


def _scalars(options: Mapping[str, Any]) -> list[tuple[str, Scalar]]:
    for name, value in options.items():
        if not isinstance(value, Scalar):
            raise TaskError(
                f"[options]: {name} is {type(value).__name__}, expected text, a number, true or "
                "false."
            )
    return list(options.items())


def _properties(tables: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    found = []
    for name, table in tables.items():
        where = f"[properties.{name}]"
        if not isinstance(table, dict):
            raise TaskError(f"{where} is {type(table).__name__}, expected a table.")
        _check_keys(table, ("property", "why"), where)
        text = _take(table, "property", str, where=where)
        found.append((name, text, _take(table, "why", str, where=where)))
    return found


def _check_keys(values: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in values:
        if key not in known:
            raise TaskError(
                f"{where} has an unknown key {key!r}; known are {', '.join(known)}."
                f"{did_you_mean(key, known)}"
            )


MISSING = object()


def _take(
    values: Mapping[str, Any],
    key: str,
    kind: type,
    default: Any = MISSING,
    where: str = "the card",
) -> Any:
    if key not in values or values[key] is None:
        if default is MISSING:
            raise TaskError(f"{where} has no {key!r}.")
        return default
    value = values[key]
    fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
    if not fits or (isinstance(value, bool) and kind is not bool):
        words = {str: "text", float: "a number", int: "a whole number", list: "a list of tables"}
        raise TaskError(f"{where}: {key} is {value!r}, expected {words.get(kind, 'a table')}.")
    return value


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)
