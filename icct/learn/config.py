"""Every option of training: name, default, meaning. The only list of hyperparameters.

Order of precedence: defaults here < the task's preset < a configuration file < flags. A value that
may differ between members is a number for all of them or one number for each.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from icct.envs.card import task_to_values
from icct.envs.find import Named, find_task, parse_options, task_of_run
from icct.envs.task import Task
from icct.errors import ConfigError, TaskError, did_you_mean, shown
from icct.files import naming, read_json, read_toml, toml_from
from icct.learn.check import TRAINABLE, check_config, check_known
from icct.learn.methods import METHODS, Sharpness, TreeConfig, tree_config
from icct.policy.parts import Scalar
from icct.zoo import lasting_source, load_policy

Algorithm = Literal["sac", "td3"]
TimeLimit = Literal["bootstrap", "terminal"]
Recipe = Literal["paper", "generic", "icct"]
Precision = Literal["float32", "bfloat16"]
PerMember = float | tuple[float, ...]


def option(default: Any, text: str) -> Any:
    """Return a dataclass field with the sentence that `icct train --help` prints."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class TrainConfig:
    """One group of members: one task, one method, one shape, any number of seeds."""

    task: Task
    method: str = option("icct-2-feature", f"one of {', '.join(TRAINABLE)}")
    recipe: Recipe = option(
        "generic",
        "how to train: icct (teach, distil, polish), or plainly with the paper's values for the "
        "task (paper) or with values for any task (generic)",
    )
    seeds: tuple[int, ...] = option((0,), "one member for each seed")
    algorithm: Algorithm = option("sac", "the update rule: sac or td3")
    steps: int = option(500_000, "environment steps of each member")
    leaves: int = option(8, "leaves of a tree, a power of two")
    hidden: tuple[int, ...] = option((256, 256), "hidden layers of a perceptron")
    critic_hidden: tuple[int, ...] = option((256, 256), "hidden layers of each critic")
    critic_precision: Precision = option(
        "float32", "products between hidden layers of the critics: float32, or bfloat16 (faster)"
    )
    actor_lr: PerMember = option(3e-4, "learning rate of the actor")
    critic_lr: PerMember = option(3e-4, "learning rate of the critics")
    entropy_lr: PerMember = option(3e-4, "learning rate of the entropy coefficient")
    final_lr: float = option(
        1.0, "share of these learning rates left at the end, to which they fall linearly"
    )
    batch_size: int = option(256, "transitions in an update")
    buffer_size: int = option(1_000_000, "transitions the replay keeps")
    learning_starts: int = option(10_000, "steps of random action before the first update")
    random_hold: int = option(1, "steps for which each of these random actions is held")
    gamma: PerMember = option(0.99, "discount factor")
    tau: PerMember = option(0.01, "how far the target critics move at each update")
    entropy: float | None = option(None, "fixed entropy coefficient; learned when not given")
    target_entropy: PerMember | None = option(None, "minus the number of actions when not given")
    time_limit: TimeLimit = option(
        "bootstrap", "what the horizon is to the critic: bootstrap (look beyond) or terminal"
    )
    sharpness: Sharpness = option("shared", "one alpha for the tree (shared) or per_node")
    temperature: PerMember = option(1.0, "temperature of the softmax behind hard choices")
    l1: PerMember | None = option(
        None, "coefficient of the L1 penalty on leaf weights; the method's own when not given"
    )
    policy_noise: float = option(0.2, "td3: noise on the target action")
    noise_clip: float = option(0.5, "td3: limit of that noise")
    exploration_noise: float = option(0.1, "td3: noise on the action taken")
    policy_delay: int = option(2, "td3: critic updates for each actor update")
    evaluate_every: int = option(10_000, "steps between evaluations")
    evaluate_episodes: int = option(5, "episodes of an evaluation")
    stop_score: float | None = option(
        None, "end when an evaluation of every member has reached this return"
    )
    normalise: bool = option(
        False,
        "scale observations by what the random steps show; policies take raw ones all the same",
    )
    init: tuple[str, ...] = option(
        (), "start from policies: one file for all members, or one for each"
    )
    critic_first: int = option(
        2000, "with init: updates of the critics alone, before the policy moves"
    )
    grow: bool = option(False, "let trees grow while they learn, from `leaves` to `max_leaves`")
    max_leaves: int = option(16, "grow: the most leaves of a tree")
    grow_every: int = option(2000, "grow: steps between decisions to split")
    grow_epsilon: float = option(
        0.3, "grow: how much lower, in nats, the entropy of two new leaves must be"
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            if isinstance(value := getattr(self, item.name), list):
                object.__setattr__(self, item.name, tuple(value))
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
    def tree(self) -> TreeConfig:
        """The shape of the tree; a growing one has room for all the leaves it may get."""
        leaves = max(self.leaves, room(self.max_leaves)) if self.grow else self.leaves
        return tree_config(self.method, leaves=leaves, sharpness=self.sharpness)

    @property
    def penalised(self) -> bool:
        """Whether leaf weights have an L1 penalty."""
        return self.is_tree and any(self.per_member("l1"))

    @property
    def first_actor_step(self) -> int:
        """The step after which the actors are updated."""
        return self.learning_starts + (self.critic_first if self.init else 0)

    def per_member(self, name: str) -> tuple[float, ...]:
        """Return an option's value for each member."""
        value = getattr(self, name)
        if value is None and name == "target_entropy":
            value = -float(len(self.task.actions))
        if value is None and name == "l1":
            value = self.tree.l1 if self.is_tree else 0.0
        return value if isinstance(value, tuple) else (float(value),) * self.members

    def as_json(self) -> dict[str, Any]:
        """Return the configuration as plain values."""
        task = self.task
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["task"] = task.name if task.built_in else task_to_values(task)
        if task.built_in and task.options:
            values["options"] = [f"{name}={value}" for name, value in task.options]
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


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

    >>> make_config("lunar-lander", "icct-2-feature", seeds=(0, 1)).leaves
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
    found = find_task(given["task"], _task_options(given.pop("options", {})))
    recipe = "paper" if found.built_in else "generic"
    chosen = {"method": "icct-2-feature", "recipe": recipe, **given, "task": found}
    check_known(chosen["method"], TRAINABLE, "method")
    check_known(chosen["recipe"], get_args(Recipe), "recipe")
    values = preset(found, chosen["method"], chosen["recipe"])
    if chosen.get("init"):  # the policy to start from takes raw observations
        values["normalise"] = False
    return TrainConfig(**values | chosen)


def _task_options(given: Any) -> dict[str, Scalar]:
    """Return options of the environment, from a table or from texts NAME=VALUE."""
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
        raise ConfigError(f"options are {shown(given)}, expected a table, or texts NAME=VALUE.")
    return parse_options(given)


def room(leaves: int) -> int:
    """Return the leaves of a complete tree in which an uneven one of so many leaves finds room.

    Two levels more than a complete tree of that many leaves needs, where it can use them.

    >>> room(2), room(4), room(5), room(16)
    (2, 8, 16, 64)
    """
    return 2 ** min(leaves - 1, (leaves - 1).bit_length() + 2)


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
    return _checked_keys(table | families[family(method)] | own | brought, f"presets/{name}")


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
        options = _task_options(known.pop("options", []))
        try:
            task = task_of_run(known.pop("task", None), options, named)
        except TaskError as error:
            raise ConfigError(str(error)) from None
        return TrainConfig(task=task, **known)


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
    known = [*(item.name for item in fields(TrainConfig)), *more]
    for key in values:
        if key not in known:
            raise ConfigError(
                f"{where}: there is no option {key!r}.{did_you_mean(key, known)} "
                f"Known are {', '.join(known)}."
            )
    return values
