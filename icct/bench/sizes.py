"""Leaves and active parameters of a method, as the paper's Table 1 counts them."""

from functools import cache
from typing import NamedTuple

from icct.bench.tables import TASK_ORDER
from icct.learn.config import TrainConfig, make_config
from icct.policy.parameters import COUNTED_METHODS, parameter_count

CRISP, GUMBEL = "-crisp", "-gumbel"
# Leaves of CART on the oracle's data, and of its trees with DAgger, by task in the paper's order.
PAPER_DT_LEAVES = dict(zip(TASK_ORDER, (256, 256, 256, 32, 256, 256), strict=True))
PAPER_DAGGER_LEAVES = dict(zip(TASK_ORDER, (32, 32, 16, 16, 31, 16), strict=True))


class Size(NamedTuple):
    """What there is to read in a controller."""

    leaves: int | None  # None: a network
    parameters: int | None  # None: the paper has no count for such a method


def size_of(config: TrainConfig, method: str | None = None) -> Size:
    """Return the size of what a configuration trains, or of `method` made from it afterwards."""
    counted = (method or config.method).removesuffix(f"{GUMBEL}{CRISP}").removesuffix(GUMBEL)
    if counted not in COUNTED_METHODS:
        return Size(config.tree.leaves if config.is_tree else None, None)
    count = parameter_count(
        counted,
        observation_size=len(config.task.features),
        action_size=len(config.task.actions),
        leaves=config.tree.leaves,
        hidden=config.network.hidden,
    )
    return Size(config.tree.leaves if config.is_tree else None, count)


@cache
def paper_size(task: str, method: str) -> Size:
    """Return the size that the paper's Table 1 states for a method on a task."""
    leaves = {"dt": PAPER_DT_LEAVES, "dt-dagger": PAPER_DAGGER_LEAVES}.get(method)
    if leaves is not None:
        found = make_config(task, "icct-static", recipe="paper").task
        count = parameter_count(
            method,
            observation_size=len(found.features),
            action_size=len(found.actions),
            leaves=leaves[task],
        )
        return Size(leaves[task], count)
    return size_of(make_config(task, trained_as(method), recipe="paper"), method)


def trained_as(method: str) -> str:
    """Return the method that is trained to have one: crisp trees are made of others afterwards.

    >>> trained_as("cddt-crisp"), trained_as("icct-2-feature")
    ('cddt', 'icct-2-feature')
    """
    return method.removesuffix(CRISP)
