"""What the preset of a task says: one TOML file each in presets/, each number with its source."""

from importlib import resources
from typing import Any

from icct.envs.task import Task
from icct.errors import ConfigError
from icct.files import toml_from
from icct.methods import METHODS


def preset(task: Task, method: str, recipe: str) -> dict[str, Any]:
    """Return what a preset says of a method: values for all, then its family's, then its own.

    The paper's recipe has a file for each built-in task; the generic one is for any task, and what
    the task itself brings stands above it. Teachers of the recipe icct begin with these values and
    change some.
    """
    if recipe == "icct":
        plain = preset(task, method, "paper" if task.built_in else "generic")
        return plain | recipe_preset(task).get("teach", {}) | dict(task.preset)
    if recipe == "paper" and not task.built_in:
        raise ConfigError(f"The paper says nothing of {task.name}; its recipe is 'generic'.")
    name = f"{task.name if recipe == 'paper' else recipe}.toml"
    table = _presets(name)[recipe]
    base = method.removesuffix("-gumbel")  # the ablation uses the method's own hyperparameters
    families = {"tree": table.pop("tree", {}), "network": table.pop("network", {})}
    own = table.pop("methods", {}).get(base, {})
    brought = dict(task.preset) if recipe == "generic" else {}
    return {**table, **families[family(method)], **own, **brought}


def recipe_preset(task: Task) -> dict[str, Any]:
    """Return what the recipe icct does on a task; `teach` has what its teachers change."""
    table: dict[str, Any] = _presets(f"{task.name if task.built_in else 'generic'}.toml")["icct"]
    return table


def _presets(name: str) -> dict[str, Any]:
    path = resources.files("icct.learn") / "presets" / name
    return toml_from(path.read_text(encoding="utf-8"))


def family(method: str) -> str:
    """Return what a method's hyperparameters are shared with: a `tree`, or a `network`."""
    return "tree" if method in METHODS else "network"
