"""Dynamic deepening (the paper's appendix): a leaf is split where two new ones are more precise.

Beside each tree learns a deeper one: the same tree with a fresh split in every leaf. Where the
combined entropy of two such leaves, estimated on what the tree saw lately, is lower than that of
their leaf by more than epsilon, they take its place. docs/growing.md says which choices are ours.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from icct.learn.config import TrainConfig
from icct.learn.leaf_entropy import best_draw, entropy_gain, good_actions, leaf_entropies, moments
from icct.learn.module import TreeModule
from icct.learn.optimiser import Adam
from icct.learn.sac import Sac, squashed_sample


@dataclass(frozen=True)
class Growth:
    """One split: which tree, where, by how much the entropy falls, and how many leaves it has."""

    member: int
    position: int
    gain: float
    leaves: int


class Deepening:
    """The deeper trees of a population, and how their new leaves come into the trees."""

    def __init__(self, config: TrainConfig, learner: Sac) -> None:
        self.config, self.learner = config, learner
        assert isinstance(learner.actor, TreeModule), "only trees grow"
        self.actor = learner.actor
        self.deeper = copy.deepcopy(self.actor)
        rates, falling = config.per_member("actor_lr"), config.learning.final_lr < 1
        self.adam = Adam(list(self.deeper.parameters()), rates, falling=falling)
        self.shape()

    def update(self, observations: Tensor, noise: Tensor, entropy: Tensor) -> None:
        """Do one step of the deeper trees on the batch of the trees, against the same critics."""
        mean, log_std = self.deeper(observations)
        action, log_prob = squashed_sample(mean, log_std, noise)
        value = self.learner.critics.of_actions(observations, action).amin(1)
        loss = (entropy.unsqueeze(-1) * log_prob - value).mean(-1)
        self.adam.step(self.adam.gradients(loss))
        self.follow()

    @torch.no_grad()
    def follow(self) -> None:
        """Copy what the deeper trees share with the trees: all splits above the new ones."""
        actor, deeper, shared = self.actor, self.deeper, active_nodes(self.actor)
        deeper.node_weights.copy_(
            torch.where(shared.unsqueeze(-1), actor.node_weights, deeper.node_weights)
        )
        deeper.node_biases.copy_(torch.where(shared, actor.node_biases, deeper.node_biases))
        per_node = deeper.sharpness.shape[1] > 1
        kept = torch.where(shared, actor.sharpness, deeper.sharpness) if per_node else None
        deeper.sharpness.copy_(actor.sharpness if kept is None else kept)

    @torch.no_grad()
    def shape(self) -> None:
        """Let the deeper trees decide where the trees do, and once more below."""
        active = active_nodes(self.actor).clone()
        for member in range(self.actor.members):
            active[member, splittable(active_nodes(self.actor)[member].tolist())] = True
        active_nodes(self.deeper).copy_(active)

    @torch.no_grad()
    def grow(self, observations: Tensor, step: int) -> list[Growth]:
        """Split leaves where it pays, put fresh splits below all others, and say what was split."""
        actor, options = self.actor, self.config.growth
        tried, share = good_actions(self.learner, observations)
        entropies = (
            leaf_entropies(actor, observations, tried, share),
            leaf_entropies(self.deeper, observations, tried, share),
        )
        grown = []
        # The first call only puts fresh splits where the data are; the next ones judge them.
        if step > self.config.first_actor_step + options.grow_every:
            for member in range(actor.members):
                leaves = int(active_nodes(actor)[member].sum()) + 1
                for gain, position in self._gains(member, *entropies):
                    if gain > options.grow_epsilon and leaves < options.max_leaves:
                        leaves += 1
                        self._take(member, position)
                        grown.append(Growth(member, position, gain, leaves))
        self.shape()
        self._refresh(observations, moments(tried, share), step)
        self.follow()
        return grown

    def _gains(
        self, member: int, tree: tuple[Tensor, Tensor], deeper: tuple[Tensor, Tensor]
    ) -> list[tuple[float, int]]:
        """Return what splitting each leaf of a tree gains, (gain, position), the largest first."""
        gains = []
        for position in splittable(active_nodes(self.actor)[member].tolist()):
            first, second = new_slots(position, self.actor.config.leaves)
            leaf, one, two = (
                (entropy[member, slot], seen[member, slot])
                for (entropy, seen), slot in ((tree, first), (deeper, first), (deeper, second))
            )
            gains.append((entropy_gain(leaf, one, two), position))
        return sorted(gains, reverse=True)

    def _take(self, member: int, position: int) -> None:
        """Give a tree the split and the two leaves of its deeper one, and their optimiser state."""
        ours, theirs = self.learner.actor_adam, self.adam
        active_nodes(self.actor)[member, position] = True
        for mine, new in (
            (ours.parameters, theirs.parameters),
            (ours.means, theirs.means),
            (ours.squares, theirs.squares),
        ):
            for to, origin in zip(
                parts(self.actor, mine, member, position),
                parts(self.deeper, new, member, position),
                strict=True,
            ):
                to.copy_(origin)

    def _refresh(self, observations: Tensor, good: Tensor, step: int) -> None:
        """Start the lowest splits and leaves of the deeper trees anew, where the trees go."""
        actor, adam = self.actor, self.adam
        slots = actor.leaf_routing(observations).argmax(-1)
        for member, seed in enumerate(actor.seeds):
            generator = torch.Generator().manual_seed((seed << 32) + step)
            drawn = int(torch.randint(2**31, (), generator=generator))
            fresh = TreeModule(actor.config, actor.features, actor.actions, seeds=(drawn,))
            fresh = fresh.to(observations.device)
            for position in splittable(active_nodes(actor)[member].tolist()):
                here = slots[member] == new_slots(position, actor.config.leaves)[0]
                if here.sum() > 1:
                    seen = observations[member, here]
                    feature, threshold = best_draw(seen, good[member, here], generator)
                    spread = float(seen[:, feature].std())
                    _set_split(fresh, position, feature, threshold, spread)
                for memory in (adam.means, adam.squares):
                    for part in parts(self.deeper, memory, member, position):
                        part.zero_()
                new = parts(fresh, list(fresh.parameters()), 0, position)
                old = parts(self.deeper, adam.parameters, member, position)
                for ours, start in zip(old, new, strict=True):
                    ours.copy_(start)

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name: the shapes of both trees and the deeper one."""
        shapes = {
            "actor.active": active_nodes(self.actor),
            "deeper.active": active_nodes(self.deeper),
        }
        return {**shapes, **self.adam.state("deeper")}


def active_nodes(module: TreeModule) -> Tensor:
    """Return which nodes of growing trees decide, (members, nodes)."""
    assert module.active is not None, "a growing tree has room for more"
    return module.active


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


def parts(
    module: TreeModule, tensors: Sequence[Tensor], member: int, position: int
) -> list[Tensor]:
    """Return what belongs to a split and to the two leaves under it.

    Args:
        module: The trees.
        tensors: One for each parameter of the module and in its shape, in their order.
        member: Which tree.
        position: Of the split.
    """
    slots = new_slots(position, module.config.leaves)
    found = []
    for (name, _), tensor in zip(module.named_parameters(), tensors, strict=True):
        own = tensor[member]
        if name.startswith("leaf_") or name == "log_std":
            found += [own[slot] for slot in slots]
        elif name.startswith("node_") or own.shape[0] > 1:  # a sharpness for each node
            found.append(own[position : position + 1])
    return found


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
