"""The tree at work on sets of states: split at its thresholds, each part with its leaf's actions.

A part keeps what ties its actions to its states. The policy computes with floats: every observation
and every controller gets `ROUNDING` of its size as a margin, thousands of times what float64 loses,
so what is proved for real numbers holds for the policy as it runs. At a threshold both sides take
their part of the margin.
"""

from dataclasses import dataclass

import numpy as np

from icct.guarantee.rounding import Mask, exact_interval, low_high, upward
from icct.guarantee.series import values
from icct.guarantee.squash import squash_line
from icct.guarantee.tape import recorded
from icct.guarantee.zonotope import Rows, Zonotopes, joined
from icct.plant import Plant
from icct.policy import Leaf, Policy

ROUNDING = 2.0**-40


@dataclass(frozen=True)
class Parts:
    """Sets of states and actions, each with its leaf and what it is a part of."""

    sets: Zonotopes
    leaf: Rows
    source: Rows

    def __len__(self) -> int:
        return len(self.leaf)

    def rows(self, which: Mask) -> "Parts":
        """Return some of the parts."""
        return Parts(self.sets.rows(which), self.leaf[which], self.source[which])

    def moved(self, sets: Zonotopes) -> "Parts":
        """Return the parts, elsewhere."""
        return Parts(sets, self.leaf, self.source)

    def and_also(self, other: "Parts") -> "Parts":
        """Return these parts and others."""
        return Parts(
            joined([self.sets, other.sets]),
            np.concatenate([self.leaf, other.leaf]),
            np.concatenate([self.source, other.source]),
        )


class Law:
    """What a policy does to sets of states of a plant."""

    def __init__(self, plant: Plant, policy: Policy) -> None:
        self.policy, self.states = policy, len(plant.states)
        names = [part.name for part in (*plant.states, *plant.disturbances)]
        self._tape = recorded([seen.value for seen in plant.observations], names)
        unknown = [exact_interval(one.low, one.high) for one in plant.disturbances]
        self._noise_mid = np.array([mid for mid, _ in unknown])
        self._noise_rad = np.array([rad for _, rad in unknown])

    def act(self, sets: Zonotopes) -> Parts:
        """Return the parts of sets of states, with the actions that the policy takes there."""
        seen = sets.beside(self._observed(sets))
        found = [
            (self._with_actions(part, leaf), leaf, source)
            for leaf, part, source in self._routed(0, seen, np.arange(len(sets)))
        ]
        return Parts(
            joined([part for part, _, _ in found]),
            np.concatenate([np.full(len(source), leaf) for _, leaf, source in found]),
            np.concatenate([source for _, _, source in found]),
        )

    def _observed(self, sets: Zonotopes) -> Zonotopes:
        count, radius = len(sets), sets.radius
        noise = np.broadcast_to(self._noise_mid, (count, len(self._noise_mid)))
        spread = np.broadcast_to(self._noise_rad, noise.shape)
        mid = np.concatenate([sets.centre, noise], 1)
        rad = np.concatenate([radius, spread], 1)
        jets = values(
            self._tape,
            np.concatenate([mid, mid]),
            np.concatenate([np.zeros_like(rad), rad]),
            mid.shape[1],
        )
        value, error = jets.mid[:, :count, 0].T, jets.rad[:, :count, 0].T
        slope = jets.mid[:, count:, 1:].transpose(1, 0, 2)
        slope_error = jets.rad[:, count:, 1:].transpose(1, 0, 2)
        steep = np.abs(slope) + slope_error
        n = self.states
        error = error + (steep[:, :, n:] @ spread[:, :, None])[:, :, 0]
        size = np.abs(value) + (steep @ (np.abs(mid) + rad)[:, :, None])[:, :, 0]
        error = upward(error + ROUNDING * size)
        return sets.image(value, error, slope[:, :, :n], slope_error[:, :, :n])

    def _routed(
        self, index: int, seen: Zonotopes, source: Rows
    ) -> list[tuple[int, Zonotopes, Rows]]:
        """Return (leaf, sets, where they come from) for the sets that reach a node."""
        if not len(seen):
            return []
        node = self.policy.nodes[index]
        if isinstance(node, Leaf):
            return [(index, seen, source)]
        dimension = self.states + node.feature
        low, high = low_high(seen.centre[:, dimension], seen.radius[:, dimension])
        some_below, some_above = ~(low > node.threshold), ~(high <= node.threshold)
        both = some_below & some_above
        found = []
        for child, wanted, way in ((node.below, some_below, 1), (node.above, some_above, -1)):
            part, rows = _cut_where(seen, wanted, both, dimension, node.threshold, way)
            found += self._routed(child, part, source[rows])
        return found

    def _with_actions(self, seen: Zonotopes, index: int) -> Zonotopes:
        leaf, n = self.policy.leaf(index), self.states
        count, actions = len(seen), len(self.policy.actions)
        slope = np.zeros((count, actions, seen.centre.shape[1]))
        bias = np.array([controller.bias for controller in leaf.controllers])
        for row, controller in enumerate(leaf.controllers):
            for feature, weight in controller.weights:
                slope[:, row, n + feature] = weight
        size = np.abs(bias) + (np.abs(slope) @ (np.abs(seen.centre) + seen.radius)[:, :, None])[:, :, 0]
        value = bias + (slope @ seen.centre[:, :, None])[:, :, 0]
        raw = seen.image(value, upward(ROUNDING * size), slope, np.zeros_like(slope))
        return seen.dimensions(slice(0, n)).beside(self._squashed(raw)).absorbed()

    def _squashed(self, raw: Zonotopes) -> Zonotopes:
        low, high = raw.hull()
        lines = [
            squash_line(self.policy.squash, action, low[:, i], high[:, i])
            for i, action in enumerate(self.policy.actions)
        ]
        slopes, offsets, errors = (np.stack(part, 1) for part in zip(*lines, strict=True))
        size = np.abs(offsets) + slopes * (np.abs(raw.centre) + raw.radius)
        value = offsets + slopes * raw.centre
        slope = slopes[:, :, None] * np.eye(slopes.shape[1])
        return raw.image(value, upward(errors + ROUNDING * size), slope, np.zeros_like(slope))


def _cut_where(
    seen: Zonotopes, wanted: Mask, both: Mask, dimension: int, threshold: float, way: int
) -> tuple[Zonotopes, Rows]:
    """Return the wanted sets and which they are; those on both sides of the threshold are cut."""
    whole, crossing = np.flatnonzero(wanted & ~both), np.flatnonzero(both)
    limit = np.full(len(crossing), threshold)
    cut, some = seen.rows(crossing).cut(dimension, limit, way)
    return joined([seen.rows(whole), cut.rows(some)]), np.concatenate([whole, crossing[some]])
