"""Every option of training: name, default, meaning. The only list of hyperparameters.

Order of precedence: defaults here < the task's preset < a configuration file < flags. A value that
may differ between members is a number for all of them or one number for each.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from icct.envs.catalog import TASKS, find_task
from icct.errors import ConfigError, did_you_mean
from icct.learn.methods import METHODS, TreeConfig, tree_config
from icct.zoo import load_policy

Algorithm = Literal["sac", "td3"]
TimeLimit = Literal["bootstrap", "terminal"]
Recipe = Literal["paper", "icct"]
Precision = Literal["float32", "bfloat16"]
PerMember = float | tuple[float, ...]

PERCEPTRONS = ("mlp-max", "mlp-upper", "mlp-lower")
TRAINABLE = (*METHODS, *PERCEPTRONS)
PER_MEMBER = (
    "actor_lr",
    "critic_lr",
    "entropy_lr",
    "gamma",
    "tau",
    "target_entropy",
    "l1",
    "temperature",
)


def option(default: Any, text: str) -> Any:
    """Return a dataclass field with the sentence that `icct train --help` prints."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class TrainConfig:
    """One group of members: one task, one method, one shape, any number of seeds."""

    task: str = option("", "the task, see `icct tasks`")
    method: str = option("icct-2-feature", f"one of {', '.join(TRAINABLE)}")
    recipe: Recipe = option("paper", "which preset: the paper's hyperparameters, or ours")
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
    batch_size: int = option(256, "transitions in an update")
    buffer_size: int = option(1_000_000, "transitions the replay keeps")
    learning_starts: int = option(10_000, "steps of random action before the first update")
    gamma: PerMember = option(0.99, "discount factor")
    tau: PerMember = option(0.01, "how far the target critics move at each update")
    entropy: float | None = option(None, "fixed entropy coefficient; learned when not given")
    target_entropy: PerMember | None = option(None, "minus the number of actions when not given")
    time_limit: TimeLimit = option(
        "bootstrap", "what the horizon is to the critic: bootstrap (look beyond) or terminal"
    )
    sharpness: str = option("shared", "one alpha for the tree (shared) or per_node")
    temperature: PerMember = option(1.0, "temperature of the softmax behind hard choices")
    l1: PerMember = option(0.0, "coefficient of the L1 penalty on leaf weights")
    policy_noise: float = option(0.2, "td3: noise on the target action")
    noise_clip: float = option(0.5, "td3: limit of that noise")
    exploration_noise: float = option(0.1, "td3: noise on the action taken")
    policy_delay: int = option(2, "td3: critic updates for each actor update")
    evaluate_every: int = option(10_000, "steps between evaluations")
    evaluate_episodes: int = option(5, "episodes of an evaluation")
    stop_score: float | None = option(
        None, "end when an evaluation of every member has reached this return"
    )
    options: tuple[str, ...] = option((), "an option of the task, NAME=VALUE")
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
        for name in ("seeds", "hidden", "critic_hidden", "options", "init", *PER_MEMBER):
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
        _check(self)

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
    def task_options(self) -> dict[str, str]:
        """The options of the task, by name."""
        return dict(text.split("=", 1) for text in self.options)

    @property
    def first_actor_step(self) -> int:
        """The step after which the actors are updated."""
        return self.learning_starts + (self.critic_first if self.init else 0)

    def per_member(self, name: str) -> tuple[float, ...]:
        """Return an option's value for each member."""
        value = getattr(self, name)
        if name == "target_entropy" and value is None:
            value = -float(len(find_task(self.task).actions))
        return value if isinstance(value, tuple) else (float(value),) * self.members

    def as_json(self) -> dict[str, Any]:
        """Return the configuration as plain values."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}


def make_config(
    task: str,
    method: str = "icct-2-feature",
    *,
    recipe: str = "paper",
    file: str | Path | None = None,
    **changes: Any,
) -> TrainConfig:
    """Return the configuration of a method on a task: preset, then a file, then changes.

    >>> make_config("lunar-lander", "icct-2-feature", seeds=(0, 1)).leaves
    8
    """
    found = find_task(task).name
    _known(method, TRAINABLE, "method")
    _known(recipe, get_args(Recipe), "recipe")
    values = {"task": found, "method": method, "recipe": recipe, **preset(found, method, recipe)}
    given = {} if file is None else _from_file(Path(file))
    given |= _checked_keys(changes, "options")
    if given.get("init") and "leaves" not in given:  # as many as the policies have
        depth = max(load_policy(path).depth for path in given["init"])
        given["leaves"] = 2 ** max(depth, 1)
    return TrainConfig(**values | given)


def room(leaves: int) -> int:
    """Return the leaves of a complete tree in which an uneven one of so many leaves finds room.

    Two levels more than a complete tree of that many leaves needs, where it can use them.

    >>> room(2), room(4), room(5), room(16)
    (2, 8, 16, 64)
    """
    return 2 ** min(leaves - 1, (leaves - 1).bit_length() + 2)


def preset(task: str, method: str, recipe: str) -> dict[str, Any]:
    """Return what a task's preset file says of a method."""
    path = resources.files("icct.learn") / "presets" / f"{task}.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    base = method.removesuffix("-gumbel")  # the ablation uses the method's own hyperparameters
    if recipe not in tables or base not in tables[recipe]["methods"]:
        offered = [f"{r}: {', '.join(tables[r]['methods'])}" for r in tables]
        raise ConfigError(
            f"The preset of {task} has no recipe {recipe!r} for {method!r}; it has "
            f"{'; '.join(offered)}."
        )
    own = tables[recipe]["methods"][base]
    common = {key: value for key, value in tables[recipe].items() if key != "methods"}
    return _checked_keys(common | own, f"presets/{task}.toml")


def config_from_json(values: Mapping[str, Any], where: str) -> TrainConfig:
    """Return a configuration that `as_json` wrote."""
    return TrainConfig(**_checked_keys(dict(values), where))


def _from_file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}.") from None
    try:
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path.name}: {error}.") from None
    return _checked_keys(values, path.name)


def _checked_keys(values: dict[str, Any], where: str) -> dict[str, Any]:
    known = [item.name for item in fields(TrainConfig)]
    for key in values:
        if key not in known:
            raise ConfigError(
                f"{where}: there is no option {key!r}.{did_you_mean(key, known)} "
                f"Known are {', '.join(known)}."
            )
    return values


def _known(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise ConfigError(
            f"There is no {what} {value!r}; known are {', '.join(known)}."
            f"{did_you_mean(value, known)}"
        )


def _check(config: TrainConfig) -> None:
    _known(config.task, tuple(TASKS), "task")
    _known(config.method, TRAINABLE, "method")
    _known(config.algorithm, get_args(Algorithm), "algorithm")
    _known(config.time_limit, get_args(TimeLimit), "time limit")
    _known(config.critic_precision, get_args(Precision), "precision")
    for name, text in (
        ("steps", "at least 1"),
        ("batch_size", "at least 1"),
        ("buffer_size", "at least 1"),
        ("evaluate_every", "at least 1"),
        ("evaluate_episodes", "at least 1"),
        ("policy_delay", "at least 1"),
    ):
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ConfigError(f"{name} is {value!r}, expected a whole number, {text}.")
    if not config.seeds or len(set(config.seeds)) < len(config.seeds):
        raise ConfigError(f"seeds are {config.seeds}, expected one or more different numbers.")
    for name in PER_MEMBER:
        value = getattr(config, name)
        if isinstance(value, tuple) and len(value) != config.members:
            raise ConfigError(
                f"{name} has {len(value)} values, expected one, or one for each of the "
                f"{config.members} seeds."
            )
        for number in value if isinstance(value, tuple) else (value,):
            wrong = number is not None and (
                isinstance(number, bool) or not isinstance(number, int | float)
            )
            if wrong or (number is None and name != "target_entropy"):
                raise ConfigError(f"{name} is {value!r}, expected a number.")
    for name, low, high in (("gamma", 0, 1), ("tau", 0, 1), ("actor_lr", 0, 1)):
        if not all(low <= number <= high for number in config.per_member(name)):
            raise ConfigError(f"{name} is {getattr(config, name)}, expected {low} to {high}.")
    _check_start(config)
    if config.is_tree:
        shape = config.tree  # refuses what does not make a tree
        size = len(find_task(config.task).features)
        if shape.leaf == "sparse" and shape.leaf_features > size:
            raise ConfigError(f"{config.method} needs {shape.leaf_features} features, not {size}.")


def _check_start(config: TrainConfig) -> None:
    """Refuse tasks' options, policies to start from and growth that make no sense."""
    for text in config.options:
        if not all(text.partition("=")):
            raise ConfigError(f"option {text!r}: expected NAME=VALUE.")
    if len(config.init) not in (0, 1, config.members):
        raise ConfigError(
            f"init has {len(config.init)} files, expected one, or one for each of the "
            f"{config.members} seeds."
        )
    crisp = config.is_tree and config.tree.routing == "crisp"
    if config.init and not crisp:
        raise ConfigError(f"init starts from a policy, which {config.method} cannot become.")
    if config.grow and not (crisp and config.tree.selector == "argmax"):
        raise ConfigError(f"grow needs a tree that is crisp while it learns, not {config.method}.")
    if config.algorithm != "sac" and (config.grow or config.init):
        raise ConfigError("grow and init need the algorithm sac, whose critics they use.")
    if config.grow and config.max_leaves < 2:
        raise ConfigError(f"max_leaves is {config.max_leaves}, expected at least 2.")
    for name in ("grow_every", "critic_first", "grow_epsilon"):
        if getattr(config, name) < 0 or (name == "grow_every" and config.grow_every < 1):
            raise ConfigError(f"{name} is {getattr(config, name)}, expected a positive number.")
