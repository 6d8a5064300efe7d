"""How a member was made, small enough to travel in its policy: what differs from the preset.

Task options are kept with the task (`task_card`), the preset by its name, and of all other options
those alone that say something else than it does. `icct.remake` reads it again.
"""

from functools import lru_cache
from typing import Any

import torch

from icct import __version__
from icct.commit import source_commit
from icct.envs.find import remembered
from icct.learn.config import TrainConfig, make_config
from icct.options import OPTIONS
from icct.policy import Policy, Provenance
from icct.policy.parts import Scalar
from icct.zoo import load_policy

ELSEWHERE = ("method", "recipe", "seeds", "algorithm", "init")  # have a place of their own


def provenance(config: TrainConfig, row: int, step: int) -> Provenance:
    """Return how a member of a group was made, after some steps."""
    start = _start(config, row)
    done = f"trained: {step} steps of {config.algorithm}"
    earlier: tuple[str, ...] = ()
    about: list[tuple[str, Scalar]] = [("recipe", config.recipe), ("algorithm", config.algorithm)]
    if start is not None:
        source, policy = start
        about.append(("init", source))
        earlier = policy.provenance.history
        done += f", from {policy.name}"
    return Provenance(
        task=config.task.name,
        task_card=remembered(config.task),
        method=config.method,
        seed=config.seeds[row],
        commit=source_commit(),
        versions=(("icct", __version__), ("torch", torch.__version__)),
        config=(*about, *((name, _text(value, row)) for name, value in _differences(config))),
        history=(*earlier, done),
    )


@lru_cache
def _differences(config: TrainConfig) -> tuple[tuple[str, Any], ...]:
    """Return the options whose values are not those of the preset."""
    preset = make_config(config.task, config.method, recipe=config.recipe, seeds=config.seeds)
    return tuple(
        (name, config.value(name))
        for name in OPTIONS
        if name not in ELSEWHERE
        and config.value(name) is not None
        and config.value(name) != preset.value(name)
    )


@lru_cache
def _start(config: TrainConfig, row: int) -> tuple[str, Policy] | None:
    """Return where the policy that a member starts from is read, and the policy."""
    if not config.start.init:
        return None
    source = config.start.init[row if len(config.start.init) > 1 else 0]
    return source.rpartition("/")[2], load_policy(source)


def _text(value: Any, row: int) -> Scalar:
    """Return a value as a flag has it; of one for each member, the member's own."""
    if not isinstance(value, tuple):
        scalar: Scalar = value
        return scalar
    if all(isinstance(one, float) for one in value):
        return float(value[row])
    return ",".join(map(str, value))
