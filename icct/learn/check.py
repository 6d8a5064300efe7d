"""What a configuration of training must be like: the type of every option, ranges, combinations."""

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from icct.envs.task import Task
from icct.errors import ConfigError, did_you_mean, shown
from icct.methods import TRAINABLE
from icct.options import OPTIONS

if TYPE_CHECKING:
    from icct.learn.config import TrainConfig

FEWEST_TO_SCALE = 100  # random steps that observations are normalised by
LARGEST = 1e30  # of any number; far beyond what makes sense, and a float
# Option → lowest and highest value, of each number where it has several.
RANGES: dict[str, tuple[float, float]] = {
    "seeds": (0, 2**32 - 1),
    "steps": (1, 10**12),
    "leaves": (2, 2**14),
    "max_leaves": (2, 2**12),
    "hidden": (1, 2**16),
    "critic_hidden": (1, 2**16),
    "batch_size": (1, 2**24),
    "buffer_size": (1, 10**10),
    "learning_starts": (0, 10**12),
    "random_hold": (1, 10**6),
    "evaluate_every": (1, 10**12),
    "evaluate_episodes": (1, 10**6),
    "policy_delay": (1, 10**6),
    "critic_first": (0, 10**12),
    "grow_every": (1, 10**12),
    "grow_epsilon": (0, LARGEST),
    "actor_lr": (0, 1),
    "critic_lr": (0, 1),
    "entropy_lr": (0, 1),
    "final_lr": (0, 1),
    "gamma": (0, 1),
    "tau": (0, 1),
    "entropy": (0, LARGEST),
    "temperature": (1e-6, LARGEST),
    "l1": (0, LARGEST),
    "policy_noise": (0, LARGEST),
    "noise_clip": (0, LARGEST),
    "exploration_noise": (0, LARGEST),
}
WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "nothing",
}


def check_config(config: "TrainConfig") -> None:
    """Refuse a configuration that cannot be trained."""
    if not isinstance(config.task, Task):
        raise ConfigError(f"task is {shown(config.task)}, expected a task.")
    for name, _, kind, _ in OPTIONS.values():
        value = config.value(name)
        if not fits(value, kind):
            raise ConfigError(f"{name} is {shown(value)}, expected {words(kind)}.")
        if value is not None and name in RANGES:
            _check_range(name, value, *RANGES[name])
        several = isinstance(value, tuple) and get_origin(kind) is not tuple
        if several and len(value) != config.members:
            raise ConfigError(
                f"{name} has {len(value)} values, expected one, or one for each of the "
                f"{config.members} seeds."
            )
    check_known(config.method, TRAINABLE, "method")
    if not config.seeds or len(set(config.seeds)) < len(config.seeds):
        raise ConfigError(f"seeds are {shown(config.seeds)}, expected one or more, all different.")
    for name in ("hidden", "critic_hidden"):
        if not config.value(name):
            raise ConfigError(f"{name} is empty, expected the size of one layer or more.")
    _check_start(config)
    if config.is_tree:
        shape = config.shape  # refuses what does not make a tree
        size = len(config.task.features)
        if shape.leaf == "sparse" and shape.leaf_features > size:
            raise ConfigError(f"{config.method} needs {shape.leaf_features} features, not {size}.")


def check_known(value: object, known: Iterable[str], what: str) -> None:
    """Refuse a name that is not one of the known ones."""
    if not isinstance(value, str) or value not in known:
        raise ConfigError(
            f"There is no {what} {shown(value)}; known are {', '.join(known)}."
            f"{did_you_mean(value, known)}"
        )


def check_names(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Refuse a name that is none of the options."""
    for name in given:
        if name not in (known := list(known)):
            raise ConfigError(
                f"{where}: there is no option {name!r}.{did_you_mean(name, known)} "
                f"Known are {', '.join(known)}."
            )


def fits(value: Any, kind: Any) -> bool:
    """Return whether a value is of the type of an option; a whole number is a number too.

    >>> fits(3, float), fits(True, int), fits((1, 2.5), tuple[int, ...])
    (True, False, False)
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in get_args(kind))
    if origin is tuple:
        return type(value) is tuple and all(fits(one, get_args(kind)[0]) for one in value)
    if origin is Literal:
        return type(value) is str and value in get_args(kind)
    if kind is float:
        return type(value) in (int, float) and abs(value) <= LARGEST
    return type(value) is kind


def words(kind: Any) -> str:
    """Return the type of an option in words.

    >>> words(float | tuple[float, ...]), words(Literal["sac", "td3"])
    ('a number or several, each a number', 'sac or td3')
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(words(one) for one in get_args(kind))
    if origin is tuple:
        return f"several, each {words(get_args(kind)[0])}"
    return " or ".join(get_args(kind)) if origin is Literal else WORDS[kind]


def _check_range(name: str, value: Any, low: float, high: float) -> None:
    for number in value if isinstance(value, tuple) else (value,):
        if not low <= number <= high:
            raise ConfigError(f"{name} is {shown(value)}, expected {low:g} to {high:g}.")


def _check_start(config: "TrainConfig") -> None:
    """Refuse scaling, policies to start from and growth that make no sense."""
    start, starts = config.start, config.learning.learning_starts
    noisy = config.is_tree and config.shape.selector == "gumbel"
    if start.normalise and (start.init or noisy):
        why = "init starts from a policy that takes" if start.init else f"{config.method} keeps"
        raise ConfigError(f"normalise: {why} raw observations; leave it out.")
    if start.normalise and starts < FEWEST_TO_SCALE:
        raise ConfigError(
            f"learning_starts is {starts}; normalise takes its statistics from the "
            f"steps before, expected at least {FEWEST_TO_SCALE}."
        )
    if len(start.init) not in (0, 1, config.members):
        raise ConfigError(
            f"init has {len(start.init)} files, expected one, or one for each of the "
            f"{config.members} seeds."
        )
    crisp = config.is_tree and config.shape.routing == "crisp"
    if start.init and not crisp:
        raise ConfigError(f"init starts from a policy, which {config.method} cannot become.")
    if config.growth.grow and not (crisp and config.shape.selector == "argmax"):
        raise ConfigError(f"grow needs a tree that is crisp while it learns, not {config.method}.")
    if config.algorithm != "sac" and (config.growth.grow or start.init):
        raise ConfigError("grow and init need the algorithm sac, whose critics they use.")
