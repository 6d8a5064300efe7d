"""A record → where its configuration is not that of the present preset: no row may mix two."""

from collections.abc import Collection
from dataclasses import fields
from functools import cache
from typing import Any

from icct.envs.card import task_from_values
from icct.learn.config import TrainConfig, config_from_json, make_config
from icct.recipe.config import OWN, Recipe, make_recipe

OF_TREES = ("leaves", "sharpness", "temperature", "l1")
OF_PERCEPTRONS = ("hidden",)
LEFT_OPEN = ("l1", "target_entropy")
SHOWN_BESIDE = ("seeds", "steps")  # have columns of their own


def deviations(record: dict[str, Any], but: Collection[str] = ()) -> str:
    """Return the options that differ from the preset of the record's recipe; "" when none does."""
    card = record["config"]["task"]
    named = task_from_values(card) if isinstance(card, dict) else None
    config = config_from_json(record["config"], "record", named)  # only read: no code is run
    preset = make_config(config.task, config.method, recipe=config.recipe, seeds=config.seeds)
    without_effect = OF_PERCEPTRONS if config.is_tree else OF_TREES
    return ", ".join(
        f"{name} {_text(value)}"
        for name, value in config.as_json().items()
        if _effective(config, name) != _effective(preset, name)
        and name not in (*SHOWN_BESIDE, *without_effect, *but)
    )


def recipe_deviations(record: dict[str, Any], but: Collection[str] = ()) -> str:
    """Return the options of a recipe run that differ from its task's preset; "" when none does.

    Which teachers there were to choose from is not among them: a record names them.
    """
    recipe, method = record["recipe"], record["method"]
    card = recipe["task"]
    preset = _preset(task_from_values(card) if isinstance(card, dict) else card, method)
    leaves = {one["method"]: one["leaves"] for one in recipe["students"]}.get(method)
    first = {item.name: item.default for item in fields(Recipe)}  # of options younger than it
    given = {name: recipe.get(name, first[name]) for name in OWN if name != "teachers"}
    given |= {"leaves": leaves}
    ours = {name: getattr(preset, name) for name in OWN if name != "teachers"}
    ours |= {"leaves": preset.students[0].leaves}
    return ", ".join(
        f"{name} {_text(value)}"
        for name, value in given.items()
        if value != ours[name] and name not in but
    )


@cache
def _preset(task: Any, method: str) -> Recipe:
    return make_recipe(task, (method,), teacher=("any",))


def _effective(config: TrainConfig, name: str) -> Any:
    """Return an option's value, the method's own where it was left open."""
    if name == "options":  # of the environment
        return config.task.options
    return config.per_member(name) if name in LEFT_OPEN else config.value(name)


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
