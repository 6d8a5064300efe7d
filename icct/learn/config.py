"""TrainConfig: one group of members, complete before anything starts, and how one is made.

Order of precedence: defaults (options.py) < the task's preset < a configuration file < flags.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from icct.envs.card import task_to_values
from icct.envs.find import Named, find_task, given_task_options, task_of_run
from icct.envs.task import Task
from icct.errors import ConfigError, TaskError, shown
from icct.files import naming, read_json, read_toml
from icct.learn.check import check_config, check_known, check_names
from icct.learn.preset import preset
from icct.methods import METHODS, TRAINABLE, TreeConfig, tree_config
from icct.options import OPTIONS, Recipe, TrainOptions
from icct.zoo import lasting_source, load_policy


@dataclass(frozen=True, kw_only=True)
class TrainConfig(TrainOptions):
    """One group of members: one task, one method, one shape, any number of seeds."""

    task: Task

    def __post_init__(self) -> None:
        super().__post_init__()
        check_config(self)

    @property
    def members(self) -> int:
        """The number of members."""
        return len(self.seeds)

    @property
    def is_tree(self) -> bool:
        """Whether the actor is a tree, crisp or fuzzy."""
        return self.method in METHODS

    @property
    def shape(self) -> TreeConfig:
        """The shape of the tree; a growing one has room for all the leaves it may get."""
        leaves = self.tree.leaves
        if self.growth.grow:
            leaves = max(leaves, room(self.growth.max_leaves))
        return tree_config(self.method, leaves=leaves, sharpness=self.tree.sharpness)

    @property
    def penalised(self) -> bool:
        """Whether leaf weights have an L1 penalty."""
        return self.is_tree and any(self.per_member("l1"))

    @property
    def first_actor_step(self) -> int:
        """The step after which the actors are updated."""
        return self.learning.learning_starts + (self.start.critic_first if self.start.init else 0)

    def value(self, name: str) -> Any:
        """Return the value of an option by its name, whichever record owns it."""
        owner = None if name == "task" else OPTIONS[name].owner
        return getattr(self if owner is None else getattr(self, owner), name)

    def per_member(self, name: str) -> tuple[float, ...]:
        """Return an option's value for each member."""
        value = self.value(name)
        if value is None and name == "target_entropy":
            value = -float(len(self.task.actions))
        if value is None and name == "l1":
            value = self.shape.l1 if self.is_tree else 0.0
        return value if isinstance(value, tuple) else (float(value),) * self.members

    def changed(self, **values: Any) -> "TrainConfig":
        """Return the configuration with some options changed, by their names.

        >>> make_config("lunar-lander").changed(entropy=0.1, steps=100).sac.entropy
        0.1
        """
        own, inside = _by_owner(values)
        parts = {owner: replace(getattr(self, owner), **part) for owner, part in inside.items()}
        return replace(self, **own, **parts)

    def as_json(self) -> dict[str, Any]:
        """Return the configuration as plain values, each option under its name."""
        values = {name: self.value(name) for name in OPTIONS}
        values |= task_as_json(self.task)
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def task_as_json(task: Task) -> dict[str, Any]:
    """Return what a run folder keeps of a task: its name, or all of a card; and its options."""
    values: dict[str, Any] = {"task": task.name if task.built_in else task_to_values(task)}
    if task.built_in and task.options:
        values["options"] = dict(task.options)
    return values


def _by_owner(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the options of a configuration itself, and those of the records inside it."""
    own: dict[str, Any] = {}
    inside: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        owner = OPTIONS[name].owner if name in OPTIONS else None
        (own if owner is None else inside.setdefault(owner, {}))[name] = value
    return own, inside


def config_of(task: Task, values: Mapping[str, Any]) -> TrainConfig:
    """Return the configuration with these options, by their names, and defaults for the others."""
    own, inside = _by_owner(values)
    kinds = get_type_hints(TrainOptions)
    parts = {owner: kinds[owner](**part) for owner, part in inside.items()}
    return TrainConfig(**own | parts | {"task": task})


def make_config(
    task: Named | None = None,
    method: str | None = None,
    *,
    recipe: str | None = None,
    file: str | Path | None = None,
    **changes: Any,
) -> TrainConfig:
    """Return the configuration of a method on a task: preset, then a file, then what is given here.

    The task is one, or what `find_task` takes; `options` are those of its environment.

    >>> make_config("lunar-lander", "icct-2-feature", seeds=(0, 1)).tree.leaves
    8
    """
    named = {"task": task, "method": method, "recipe": recipe}
    given = {} if file is None else read_options(Path(file))
    given |= _checked_keys(changes, "options", "options")
    given |= {name: value for name, value in named.items() if value is not None}
    if "task" not in given:
        raise ConfigError("no task was given; `icct tasks` lists them.")
    if not isinstance(given["task"], str | Task):
        raise ConfigError(f"task is {shown(given['task'])}, expected a task or the name of one.")
    if given.get("init") and "leaves" not in given:  # as many as the policies have
        depth = max(load_policy(path).depth for path in given["init"])
        given["leaves"] = 2 ** max(depth, 1)
    found = find_task(given["task"], given_task_options(given.pop("options", {})))
    recipe = "paper" if found.built_in else "generic"
    chosen = {"method": "icct-2-feature", "recipe": recipe, **given, "task": found}
    check_known(chosen["method"], TRAINABLE, "method")
    check_known(chosen["recipe"], get_args(Recipe), "recipe")
    values = preset(found, chosen["method"], chosen["recipe"])
    check_names(values, OPTIONS, f"the preset of {found.name}")
    if chosen.get("init"):  # the policy to start from takes raw observations
        values["normalise"] = False
    return config_of(found, values | chosen)


def room(leaves: int) -> int:
    """Return the leaves of a complete tree in which an uneven one of so many leaves finds room.

    Two levels more than a complete tree of that many leaves needs, where it can use them.

    >>> room(2), room(4), room(5), room(16)
    (2, 8, 16, 64)
    """
    return 2 ** min(leaves - 1, (leaves - 1).bit_length() + 2)


def config_from_json(
    values: Mapping[str, Any], where: str, named: Task | None = None
) -> TrainConfig:
    """Return a configuration that `as_json` wrote.

    Args:
        values: What it wrote.
        where: For errors.
        named: The task, where the caller names it; needed where it is somebody's code.
    """
    known = _checked_keys(dict(values), where, "options")
    with naming(where, ConfigError):
        options = given_task_options(known.pop("options", {}))
        try:
            task = task_of_run(known.pop("task", None), options, named)
        except TaskError as error:
            raise ConfigError(str(error)) from None
        return config_of(task, known)


def read_options(path: Path, *more: str) -> dict[str, Any]:
    """Return the options in a TOML or JSON file; `more` are known beside those of training."""
    kind = "a file of training options"
    read = read_json if path.suffix == ".json" else read_toml
    values: Any = read(path, kind, error=ConfigError)
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected names and values of options.")
    if "init" in values:  # found again from any folder
        with naming(path, ConfigError):
            values["init"] = _lasting(values["init"])
    return _checked_keys(values, str(path), "options", *more)


def _lasting(sources: Any) -> tuple[str, ...]:
    if not isinstance(sources, list) or not all(isinstance(one, str) for one in sources):
        raise ConfigError(f"init is {shown(sources)}, expected several, each a policy file.")
    return tuple(lasting_source(one) for one in sources)


def _checked_keys(values: dict[str, Any], where: str, *more: str) -> dict[str, Any]:
    check_names(values, ["task", *OPTIONS, *more], where)
    return values
