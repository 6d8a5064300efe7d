"""The tree at work on sets of states: split at its thresholds, each part with its leaf's actions.

A part keeps what ties its actions to its states. The policy computes with floats: every observation
and every controller gets `ROUNDING` of its size as a margin, thousands of times what float64 loses,
so what is proved for real numbers holds for the policy as it runs. At a threshold both sides take
their part of the margin.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icct.guarantee.rounding import Array, Mask, exact_interval, low_high, upward
from icct.guarantee.series import values
from icct.guarantee.squash import squash_line
from icct.guarantee.tape import recorded
from icct.guarantee.zonotope import Rows, Zonotopes, joined
from icct.plant import Plant
from icct.policy import Leaf, Policy

ROUNDING = 2.0**-40
BLUR = 0.1  # of what an action spreads over a set: leaves that differ by less are not told apart
SEVERAL = -1  # the leaf of a set that was not split


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
        names = [state.name for state in plant.states] + [one.name for one in plant.disturbances]
        self._tape = recorded([seen.value for seen in plant.observations], names)
        unknown = [exact_interval(one.low, one.high) for one in plant.disturbances]
        self._noise_mid = np.array([mid for mid, _ in unknown])
        self._noise_rad = np.array([rad for _, rad in unknown])

    def act(self, sets: Zonotopes, crowded: Mask) -> Parts:
        """Return sets of states with the actions that the policy takes there.

        A set on both sides of a threshold falls into parts; or it stays whole, with what its
        leaves differ by as an error: where that is little, and where `crowded` says that there
        are parts enough.
        """
        seen = sets.beside(self._observed(sets))
        routed = self._routed(0, seen, np.arange(len(sets)))
        parts = joined([part for _, part, _ in routed])
        source = np.concatenate([source for _, _, source in routed])
        leaf = np.concatenate([np.full(len(source), leaf) for leaf, _, source in routed])
        rules = Rules.joined([self._rules(part, leaf) for leaf, part, _ in routed])
        common, spread = rules.common(parts, seen, source)
        several = np.bincount(source, minlength=len(sets)) > 1
        little = (common.error <= BLUR * spread).all(1)
        whole = several & (little | crowded)
        split = ~whole[source]
        kept = [parts.rows(split), seen.rows(whole)]
        together = Rules.joined([rules.rows(split), common.rows(whole)])
        return Parts(
            self._with_actions(joined(kept), together),
            np.concatenate([leaf[split], np.full(whole.sum(), SEVERAL)]),
            np.concatenate([source[split], np.flatnonzero(whole)]),
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

    def _rules(self, seen: Zonotopes, index: int) -> "Rules":
        """Return what a leaf does, as straight lines near its squashed controllers."""
        leaf, n = self.policy.leaf(index), self.states
        slope = np.zeros((len(seen), len(self.policy.actions), seen.centre.shape[1]))
        bias = np.array([controller.bias for controller in leaf.controllers])
        for row, controller in enumerate(leaf.controllers):
            for feature, weight in controller.weights:
                slope[:, row, n + feature] = weight
        reach = np.abs(seen.centre) + seen.radius
        size = np.abs(bias) + (np.abs(slope) @ reach[:, :, None])[:, :, 0]
        value = bias + (slope @ seen.centre[:, :, None])[:, :, 0]
        raw = seen.image(value, upward(ROUNDING * size), slope, np.zeros_like(slope))
        low, high = raw.hull()
        lines = [
            squash_line(self.policy.squash, action, low[:, i], high[:, i])
            for i, action in enumerate(self.policy.actions)
        ]
        steep, offset, error = (np.stack(part, 1) for part in zip(*lines, strict=True))
        error = upward(error + ROUNDING * (np.abs(offset) + 2 * steep * size))
        return Rules(slope * steep[:, :, None], steep * bias + offset, error)

    def _with_actions(self, seen: Zonotopes, rules: "Rules") -> Zonotopes:
        actions = rules.image(seen, rules.error)
        return seen.dimensions(slice(0, self.states)).beside(actions).absorbed()


@dataclass(frozen=True)
class Rules:
    """Actions as lines of what is seen, one for each set: slope · seen + offset, ± error."""

    slope: Array  # (sets, actions, states and observations)
    offset: Array  # (sets, actions)
    error: Array

    @staticmethod
    def joined(rules: "Sequence[Rules]") -> "Rules":
        """Return all of some rules."""
        return Rules(
            np.concatenate([one.slope for one in rules]),
            np.concatenate([one.offset for one in rules]),
            np.concatenate([one.error for one in rules]),
        )

    def rows(self, which: Mask) -> "Rules":
        """Return the rules of some sets."""
        return Rules(self.slope[which], self.offset[which], self.error[which])

    def image(self, seen: Zonotopes, error: Array) -> Zonotopes:
        """Return the actions over sets of states and observations."""
        value = self.offset + (self.slope @ seen.centre[:, :, None])[:, :, 0]
        return seen.image(value, error, self.slope, np.zeros_like(self.slope))

    def common(self, parts: Zonotopes, whole: Zonotopes, source: Rows) -> "tuple[Rules, Array]":
        """Return one rule for each whole set, near those of all its parts; and how far it spreads.

        Args:
            parts: The sets that these rules are for.
            whole: The sets that those are parts of.
            source: Of which whole set each is a part.
        """
        count = np.maximum(np.bincount(source, minlength=len(whole)), 1).astype(np.float64)
        slope = np.zeros((len(whole), *self.slope.shape[1:]))
        offset, error = np.zeros((2, len(whole), self.offset.shape[1]))
        np.add.at(slope, source, self.slope)
        np.add.at(offset, source, self.offset)
        slope, offset = slope / count[:, None, None], offset / count[:, None]
        apart = Rules(self.slope - slope[source], self.offset - offset[source], self.error)
        differing = apart.image(parts, self.error)
        size = (
            np.abs(self.offset)
            + (np.abs(self.slope) @ (np.abs(parts.centre) + parts.radius)[:, :, None])[:, :, 0]
        )
        most = upward(np.abs(differing.centre) + differing.radius + ROUNDING * size)
        np.maximum.at(error, source, most)
        reach = np.abs(whole.centre) + whole.radius
        error = upward(
            error + ROUNDING * (np.abs(offset) + (np.abs(slope) @ reach[:, :, None])[:, :, 0])
        )
        found = Rules(slope, offset, error)
        return found, found.image(whole, np.zeros_like(error)).radius


def _cut_where(
    seen: Zonotopes, wanted: Mask, both: Mask, dimension: int, threshold: float, way: int
) -> tuple[Zonotopes, Rows]:
    """Return the wanted sets and which they are; those on both sides of the threshold are cut."""
    whole, crossing = np.flatnonzero(wanted & ~both), np.flatnonzero(both)
    limit = np.full(len(crossing), threshold)
    cut, some = seen.rows(crossing).cut(dimension, limit, way)
    return joined([seen.rows(whole), cut.rows(some)]), np.concatenate([whole, crossing[some]])
