"""Dynamic deepening (the paper's appendix): a leaf is split where two new ones are more precise.

Beside each tree learns a deeper one: the same tree with a fresh split in every leaf. Where the
combined entropy of two such leaves, estimated on what the tree saw lately, is lower than that of
their leaf by more than epsilon, they take its place. docs/growing.md says which choices are ours.
"""

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from icct.learn.adam import Adam, flatten_parameters
from icct.learn.crisp import squashed_sample
from icct.learn.module import TreeModule

if TYPE_CHECKING:
    from icct.learn.config import TrainConfig
    from icct.learn.sac import Sac

ACTIONS_TRIED = 64  # for each observation, spread evenly over the action space
SPLITS_DRAWN = 64  # of which the best is where a fresh split starts
FEWEST_SEEN = 40  # observations that a leaf must have before it is judged
SMALLER_SIDE = 0.05  # the share of them that the smaller of the new leaves must get


@dataclass(frozen=True)
class Growth:
    """One split: which tree, where, by how much the entropy falls, and how many leaves it has."""

    member: int
    position: int
    gain: float
    leaves: int


class Deepening:
    """The deeper trees of a population, and how their new leaves come into the trees."""

    def __init__(self, config: "TrainConfig", actor: TreeModule, share: Tensor | None) -> None:
        self.config = config
        self.deeper = copy.deepcopy(actor)
        flat = flatten_parameters(self.deeper)
        self.parameters = list(self.deeper.parameters())
        self.adam = Adam(self.parameters, flat, config.per_member("actor_lr"), share)
        self.shape(actor)

    def update(self, learner: "Sac", observations: Tensor, noise: Tensor, entropy: Tensor) -> None:
        """Do one step of the deeper trees on the batch of the trees, against the same critics."""
        action, log_prob = squashed_sample(*self.deeper(observations), noise)
        value = learner.critics.lowest(observations, action)
        loss = (entropy.unsqueeze(-1) * log_prob - value).mean(-1)
        self.adam.step(torch.autograd.grad(loss.sum(), self.parameters))
        self.follow(learner.actor)

    @torch.no_grad()
    def follow(self, actor: TreeModule) -> None:
        """Copy what the deeper trees share with the trees: all splits above the new ones."""
        deeper, shared = self.deeper, actor.active
        deeper.node_weights.copy_(
            torch.where(shared.unsqueeze(-1), actor.node_weights, deeper.node_weights)
        )
        deeper.node_biases.copy_(torch.where(shared, actor.node_biases, deeper.node_biases))
        per_node = deeper.sharpness.shape[1] > 1
        kept = torch.where(shared, actor.sharpness, deeper.sharpness) if per_node else None
        deeper.sharpness.copy_(actor.sharpness if kept is None else kept)

    @torch.no_grad()
    def shape(self, actor: TreeModule) -> None:
        """Let the deeper trees decide where the trees do, and once more below."""
        active = actor.active.clone()
        for member in range(actor.members):
            active[member, splittable(actor.active[member].tolist())] = True
        if self.deeper.active is None:
            self.deeper.active = active
        else:
            self.deeper.active.copy_(active)

    @torch.no_grad()
    def grow(self, learner: "Sac", observations: Tensor, step: int) -> list[Growth]:
        """Split leaves where it pays, put fresh splits below all others, and say what was split."""
        actor: TreeModule = learner.actor
        tried, share = good_actions(learner, observations)
        entropies = (
            leaf_entropies(actor, observations, tried, share),
            leaf_entropies(self.deeper, observations, tried, share),
        )
        grown = []
        # The first call only puts fresh splits where the data are; the next ones judge them.
        if step > self.config.first_actor_step + self.config.grow_every:
            for member in range(actor.members):
                leaves = int(actor.active[member].sum()) + 1
                for gain, position in self._gains(actor, member, *entropies):
                    if gain > self.config.grow_epsilon and leaves < self.config.max_leaves:
                        leaves += 1
                        self._take(learner, member, position)
                        grown.append(Growth(member, position, gain, leaves))
        self.shape(actor)
        self._refresh(actor, observations, moments(tried, share), step)
        self.follow(actor)
        return grown

    def _gains(
        self,
        actor: TreeModule,
        member: int,
        tree: tuple[Tensor, Tensor],
        deeper: tuple[Tensor, Tensor],
    ) -> list[tuple[float, int]]:
        """Return what splitting each leaf of a tree gains, (gain, position), the largest first."""
        gains = []
        for position in splittable(actor.active[member].tolist()):
            first, second = new_slots(position, actor.config.leaves)
            leaf, one, two = (
                (entropy[member, slot], seen[member, slot])
                for (entropy, seen), slot in ((tree, first), (deeper, first), (deeper, second))
            )
            gains.append((entropy_gain(leaf, one, two), position))
        return sorted(gains, reverse=True)

    def _take(self, learner: "Sac", member: int, position: int) -> None:
        """Give a tree the split and the two leaves of its deeper one, and their optimiser state."""
        ours, theirs = learner.actor_adam, self.adam
        learner.actor.active[member, position] = True
        for part in ("flat", "mean", "square"):
            pairs = zip(
                places(learner.actor, getattr(ours, part), member, position),
                places(self.deeper, getattr(theirs, part), member, position),
                strict=True,
            )
            for mine, new in pairs:
                mine.copy_(new)

    def _refresh(self, actor: TreeModule, observations: Tensor, good: Tensor, step: int) -> None:
        """Start the lowest splits and leaves of the deeper trees anew, where the trees go."""
        slots = actor.leaf_routing(observations).argmax(-1)
        for member, seed in enumerate(actor.seeds):
            generator = torch.Generator().manual_seed((seed << 32) + step)
            drawn = int(torch.randint(2**31, (), generator=generator))
            fresh = TreeModule(actor.config, actor.features, actor.actions, seeds=(drawn,))
            fresh = fresh.to(observations.device)
            new = flatten_parameters(fresh)
            for position in splittable(actor.active[member].tolist()):
                here = slots[member] == new_slots(position, actor.config.leaves)[0]
                if here.sum() > 1:
                    seen = observations[member, here]
                    feature, threshold = best_draw(seen, good[member, here], generator)
                    spread = float(seen[:, feature].std())
                    _set_split(fresh, position, feature, threshold, spread)
                for part in ("mean", "square"):
                    for mine in places(self.deeper, getattr(self.adam, part), member, position):
                        mine.zero_()
                mine = places(self.deeper, self.adam.flat, member, position)
                for ours, start in zip(mine, places(fresh, new, 0, position), strict=True):
                    ours.copy_(start)

    def state(self, actor: TreeModule) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name: the shapes of both trees and the deeper one."""
        shapes = {"actor.active": actor.active, "deeper.active": self.deeper.active}
        return {**shapes, **self.adam.state("deeper")}


# -- leaves of a growing tree ---------------------------------------------------------------------


def leaf_positions(active: list[bool]) -> list[int]:
    """Return where the leaves of an uneven tree are, as numbers of nodes, level by level.

    >>> leaf_positions([True, False, True, False, False, False, False])  # the second child is split
    [1, 5, 6]
    """
    found, level = [], [0]
    while level:
        decides = [position < len(active) and active[position] for position in level]
        found += [p for p, yes in zip(level, decides, strict=True) if not yes]
        level = [
            child
            for p, yes in zip(level, decides, strict=True)
            if yes
            for child in (2 * p + 1, 2 * p + 2)
        ]
    return sorted(found)


def splittable(active: list[bool]) -> list[int]:
    """Return the leaves that can be split: those with room below them.

    >>> splittable([True, False, True])
    [1]
    """
    return [position for position in leaf_positions(active) if position < len(active)]


def new_slots(position: int, leaves: int) -> tuple[int, int]:
    """Return the leaves, of the complete tree, that a split at a position has: true, then false.

    The first is also the one that stands for the position while it is a leaf.

    >>> new_slots(0, 8), new_slots(2, 8), new_slots(6, 8)
    ((0, 4), (4, 6), (6, 7))
    """
    depth = (position + 1).bit_length() - 1
    width = leaves >> depth
    first = (position + 1 - 2**depth) * width
    return first, first + width // 2


def places(module: TreeModule, flat: Tensor, member: int, position: int) -> list[Tensor]:
    """Return the parts of a flat vector that belong to a split and to the two leaves under it."""
    slots = list(new_slots(position, module.config.leaves))
    found, start = [], 0
    for name, parameter in module.named_parameters():
        end = start + parameter.numel()
        own = flat[start:end].view(parameter.shape)[member]
        start = end
        if name.startswith("leaf_") or name == "log_std":
            found += [own[slot] for slot in slots]
        elif name.startswith("node_") or own.shape[0] > 1:  # a sharpness for each node
            found.append(own[position : position + 1])
    return found


def best_draw(observations: Tensor, good: Tensor, generator: torch.Generator) -> tuple[int, float]:
    """Return the feature and threshold of the best of some random splits.

    Each puts a threshold at one observation's value of one feature. The best leaves the lowest
    entropy when each side does what is good on average there.

    Args:
        observations: Those of one leaf, (n, features).
        good: Mean and mean square of the good actions there, (n, actions, 2).
        generator: What draws them.
    """
    count, features = observations.shape
    feature = torch.randint(features, (SPLITS_DRAWN,), generator=generator)
    row = torch.randint(count, (SPLITS_DRAWN,), generator=generator)
    threshold = observations[row, feature]
    above = (observations[:, feature] > threshold).T.to(good)  # (splits, n)
    entropy = torch.zeros(SPLITS_DRAWN, device=good.device)
    for side in (above, 1 - above):
        share = side.sum(1, keepdim=True)
        mean, square = (torch.einsum("sn,nak->sak", side, good) / share[..., None]).unbind(-1)
        entropy += share[:, 0] / count * normal_entropy(square - mean.square())
        entropy[share[:, 0] < SMALLER_SIDE * count] = torch.inf
    best = int(entropy.nan_to_num(torch.inf).argmin())
    return int(feature[best]), float(threshold[best])


def _set_split(
    module: TreeModule, position: int, feature: int, threshold: float, spread: float
) -> None:
    """Let a node test a feature, with a weight of one over its spread.

    So a step of the optimiser moves the threshold by a small part of that spread, and the soft
    decision behind the hard one, which learns, is as wide as the data.
    """
    weight = 1 / max(spread, 1e-6)
    module.node_weights[0, position] *= min(weight, 1.0)  # the largest must be the feature's
    module.node_weights[0, position, feature] = weight
    module.node_biases[0, position] = weight * threshold


# -- entropies ------------------------------------------------------------------------------------


def good_actions(learner: "Sac", observations: Tensor) -> tuple[Tensor, Tensor]:
    """Return actions tried, (k, actions), and how good each is, (members, batch, k), adding to 1.

    Their share is the distribution that SAC drives a policy to, exp(value / entropy coefficient).
    """
    members, batch = observations.shape[:2]
    engine = torch.quasirandom.SobolEngine(learner.actor.actions)
    tried = 2 * engine.draw(ACTIONS_TRIED).to(observations) - 1
    values = [
        learner.critics(observations, action.expand(members, batch, -1)).amin(1) for action in tried
    ]
    coefficient = learner.log_entropy.exp().reshape(-1, 1, 1)
    return tried, torch.softmax(torch.stack(values, -1) / coefficient, dim=-1)


def moments(tried: Tensor, share: Tensor) -> Tensor:
    """Return mean and mean square of the good actions, (members, batch, actions, 2)."""
    return torch.stack((share @ tried, share @ tried.square()), dim=-1)


def leaf_entropies(
    module: TreeModule, observations: Tensor, tried: Tensor, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the entropy of every leaf and how many observations reach it, (members, leaves) each.

    A leaf says where an action should be, by its rule; how widely good actions lie around that,
    over the observations that reach it, is the variance of the normal distribution that makes
    them most likely. The entropy is that distribution's, in nats, summed over actions.
    """
    routing = module.leaf_routing(observations)
    mean = torch.tanh(module(observations, noisy=False)[0]).unsqueeze(2)
    spread = (share.unsqueeze(-1) * (tried - mean).square()).sum(2)
    seen = routing.sum(1)
    variance = torch.einsum("mbl,mba->mla", routing, spread) / seen.clamp(min=1).unsqueeze(-1)
    return normal_entropy(variance), seen


def normal_entropy(variance: Tensor) -> Tensor:
    """Return the entropy of normal distributions, (..., actions) → (...), in nats."""
    return 0.5 * torch.log(2 * math.pi * math.e * variance.clamp(min=1e-12)).sum(-1)


def entropy_gain(
    leaf: tuple[Tensor, Tensor], first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]
) -> float:
    """Return how much lower the entropy of two leaves is than that of the one they would replace.

    Each is given as (entropy, observations); the two are weighted by what reaches them. A leaf
    that saw too little, or a split that sends nearly everything one way, gains nothing.
    """
    (one, ones), (two, twos) = first, second
    total = float(ones + twos)
    if total < FEWEST_SEEN or float(min(ones, twos)) < SMALLER_SIDE * total:
        return -math.inf
    return float(leaf[0] - (ones * one + twos * two) / total)
