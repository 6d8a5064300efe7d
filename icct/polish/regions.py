"""Where has a shift of a rule gained? Probes → regions of observations → splits around a leaf.

A regression tree over where the probes began says in which regions a shift gained. Such a region
becomes a few splits around a copy of the leaf whose rule is shifted.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icct.envs.episodes import mean_and_error
from icct.errors import MissingExtraError
from icct.policy import Policy, Split
from icct.policy.edit import renumbered
from icct.policy.parts import Node
from icct.polish.probe import Probed, shifted_leaf

SURE = 2.0  # standard errors of a gain, for it to be above 0
CANDIDATES = 8  # regions at most
OF_A_KIND = 2  # of them, with the same leaf, action and shift
DEEPEST = 3  # conditions of a region
FEWEST = 15  # probes in a region
FEWEST_PROBES = 2 * FEWEST  # of a leaf, action and shift


@dataclass(frozen=True)
class Region:
    """Where a shift of one leaf's rule has gained: conditions (feature, threshold, is above)."""

    leaf: int
    action: int
    change: float  # of the rule's constant
    conditions: tuple[tuple[int, float, bool], ...]
    gain: float  # mean of its probes
    error: float  # standard error of that
    probes: int

    @property
    def worth(self) -> float:
        """What it surely gains, over all of its probes."""
        return (self.gain - SURE * self.error) * self.probes


def regions_of(
    policy: Policy, probed: Probed, units: dict[int, list[float]], room: int
) -> list[Region]:
    """Return where probes have surely gained, the most worth first."""
    found: list[Region] = []
    leaves = policy.leaves_of(probed.seen)
    for leaf in np.unique(leaves).tolist():
        for action, shift in sorted(set(zip(probed.actions, probed.shifts, strict=True))):
            rows = (leaves == leaf) & (probed.actions == action) & (probed.shifts == shift)
            if rows.sum() >= FEWEST_PROBES:
                change = float(shift) * units[leaf][action]
                own = _regions_of_a_kind(
                    probed.seen[rows], probed.gains[rows], leaf, int(action), change, room
                )
                found += sorted(own, key=lambda region: -region.worth)[:OF_A_KIND]
    return sorted(found, key=lambda region: -region.worth)[:CANDIDATES]


def _regions_of_a_kind(
    seen: Any, gains: Any, leaf: int, action: int, change: float, room: int
) -> list[Region]:
    """Return the regions of a regression tree, at every depth, in which a shift surely gains."""
    low, high = np.quantile(gains, (0.05, 0.95))  # one crash must not hide where the others gain
    gains = np.clip(gains, low, high)
    cart = import_cart()(max_depth=DEEPEST, min_samples_leaf=FEWEST, random_state=0)
    tree = cart.fit(seen, gains).tree_
    passed = cart.decision_path(seen).toarray().astype(bool)
    conditions: dict[int, dict[tuple[int, bool], float]] = {0: {}}
    found = []
    for node in range(tree.node_count):  # parents before their children
        if tree.children_left[node] >= 0:
            feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
            for child, above in (
                (tree.children_left[node], False),
                (tree.children_right[node], True),
            ):
                conditions[int(child)] = conditions[node] | {(feature, above): threshold}
        own = gains[passed[:, node]]
        mean, error = mean_and_error(own.tolist())
        region = Region(
            leaf, action, change,
            tuple((feature, at, above) for (feature, above), at in conditions[node].items()),
            mean, error, len(own),
        )  # fmt: skip
        if region.worth > 0 and 1 <= len(region.conditions) <= room:
            found.append(region)
    return found


def grafted(policy: Policy, region: Region) -> Policy:
    """Return the policy with a region's splits in place of its leaf, the shifted rule inside."""
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    leaf, place = policy.leaf(region.leaf), region.leaf
    for feature, threshold, above in region.conditions:
        inside, outside = len(nodes), len(nodes) + 1
        below, beyond = (outside, inside) if above else (inside, outside)
        nodes[place] = Split(feature, threshold, below, beyond)
        nodes[inside] = nodes[outside] = leaf
        place = inside
    nodes[place] = shifted_leaf(leaf, region.action, region.change)
    return replace(policy, nodes=renumbered(nodes))


def import_cart() -> Any:  # it has no types
    """Return scikit-learn's regression tree, or say how to get it."""
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise MissingExtraError(
            'Extending needs scikit-learn. Install it with: pip install "icct[distill]"'
        ) from None
    return DecisionTreeRegressor
