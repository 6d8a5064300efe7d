"""Does deepening stop at the right size? A toy whose best policy is a known tree of four leaves."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from icct.learn.config import TrainConfig, make_config
from icct.learn.deepen import active_nodes
from icct.learn.group import Group
from icct.learn.noise import hashed, places, uniform

# The best action depends on two of four features: below and above these thresholds.
FIRST_THRESHOLD = 0.0
SECOND_THRESHOLDS = (-0.3, 0.3)  # of feature 1, where feature 0 is below and above
BEST_ACTIONS = ((-0.8, 0.2), (0.8, -0.2))
NEEDED_LEAVES = 4
STATES = 9  # the stream of random numbers that draws states


@dataclass(frozen=True)
class Grown:
    """One seed: its leaves and the mean reward of its deterministic policy, of 1 at best."""

    seed: int
    leaves: int
    mean_reward: float


def toy_config(seeds: Sequence[int], steps: int) -> TrainConfig:
    """Return the configuration of the toy; the task lends it its four features and one action."""
    return make_config(
        "inverted-pendulum",
        "icct-static",
        seeds=tuple(seeds),
        steps=steps,
        leaves=2,
        grow=True,
        max_leaves=8,
        grow_every=2500,
        learning_starts=500,
        batch_size=64,
        critic_hidden=(64, 64),
        actor_lr=3e-3,
        critic_lr=2e-3,
        entropy_lr=2e-3,
        gamma=0.0,
    )


def best_actions(states: Tensor) -> Tensor:
    """Return the best action of each state, (..., 4) → (..., 1)."""
    above = states[..., 0] > FIRST_THRESHOLD
    low, high = SECOND_THRESHOLDS
    (a, b), (c, d) = BEST_ACTIONS
    first = torch.where(states[..., 1] > low, b, a)
    second = torch.where(states[..., 1] > high, d, c)
    return torch.where(above, second, first).unsqueeze(-1)


def reward(states: Tensor, actions: Tensor) -> Tensor:
    """Return 1 minus the squared distance from the best action, (...,)."""
    return 1 - (actions - best_actions(states)).square().sum(-1)


def grow_on_the_toy(
    seeds: Sequence[int], steps: int, progress: Callable[[int, int], None] | None = None
) -> list[Grown]:
    """Train trees of two leaves on one-step episodes of the toy and return what they became."""
    config = toy_config(seeds, steps)
    group = Group(config, torch.device("cpu"), compile_update=False)
    spots = places(4)
    for step in range(1, steps + 1):
        group.step.fill_(step)
        states = 2 * uniform(hashed(group.seeds, group.step, STATES, spots)) - 1
        actions = group.choose(states, group.step)
        gained = reward(states, actions).unsqueeze(-1)
        rows = torch.cat((states, states, actions, gained, torch.ones_like(gained)), dim=1)
        group.replay.store(rows)
        if step > config.learning.learning_starts:
            group.learn(step)
            if group.grows_at(step):
                group.grow(step)
        if progress is not None and step % 100 == 0:
            progress(step, steps)
    states = 2 * torch.rand(config.members, 10_000, 4, generator=torch.manual_seed(1)) - 1
    with torch.no_grad():
        acted = torch.tanh(group.learner.actor(states)[0])
    found = reward(states, acted).mean(1).tolist()
    assert group.growth is not None
    leaves = (active_nodes(group.growth.actor).sum(1) + 1).tolist()
    return [Grown(*row) for row in zip(config.seeds, leaves, found, strict=True)]


def growing_table(grown: Sequence[Grown]) -> str:
    """Return the result as Markdown."""
    lines = [
        f"best policy: {NEEDED_LEAVES} leaves, mean reward 1; the best single leaf: "
        f"{best_of_one_leaf():.3f}",
        "",
        "| seed | leaves | mean reward |",
        "|---|---|---|",
    ]
    lines += [f"| {one.seed} | {one.leaves} | {one.mean_reward:.3f} |" for one in grown]
    return "\n".join(lines)


def best_of_one_leaf() -> float:
    """Return the mean reward of the best constant action."""
    shares = [(0.5 * (1 + low) / 2, 0.5 * (1 - low) / 2) for low in SECOND_THRESHOLDS]
    cells = [
        (share, action)
        for pair, actions in zip(shares, BEST_ACTIONS, strict=True)
        for share, action in zip(pair, actions, strict=True)
    ]
    mean = math.fsum(share * action for share, action in cells)
    return 1 - math.fsum(share * (action - mean) ** 2 for share, action in cells)
