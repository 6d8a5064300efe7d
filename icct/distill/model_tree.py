"""Pairs → a tree whose leaves are linear rules of at most e features, splits and rules together.

Grown greedily like CART, best leaf first, but a split is worth what the best-subset regressions on
its two sides gain over the one above it. Then splits move, one at a time.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from icct.distill.moving import with_moved_splits
from icct.distill.pairs import Pairs
from icct.distill.table import Cut, Rows, Table
from icct.errors import ConfigError
from icct.policy import Action, Feature, Leaf, Policy, Provenance, Split
from icct.policy.parts import Node


@dataclass(order=True)
class Part:
    """Rows that share a leaf; parts are ordered so that a heap gives the largest gain first."""

    loss: float = field(init=False)
    rows: Rows = field(compare=False)
    node: int = field(compare=False)
    cut: Cut | None = field(compare=False)

    def __post_init__(self) -> None:
        self.loss = 0.0 if self.cut is None else -self.cut.gain


def fit_model_tree(
    pairs: Pairs,
    features: Sequence[Feature],
    actions: Sequence[Action],
    *,
    leaves: int,
    leaf_features: int,
    balanced: bool = False,
    name: str = "model-tree",
    provenance: Provenance | None = None,
) -> Policy:
    """Return a tree of at most `leaves` leaves, with at most `leaf_features` weights a rule.

    A balanced tree has all its leaves at one depth; `leaves` is a power of two then.
    """
    check_leaf_features(leaf_features, features)
    table = Table(pairs, actions, leaf_features)
    nodes = _complete(table, leaves) if balanced else _grown(table, leaves)
    nodes = with_moved_splits(table, nodes)
    return Policy(
        name, tuple(features), tuple(actions), tuple(nodes), "tanh", provenance or Provenance()
    )


def check_leaf_features(leaf_features: int, features: Sequence[Feature]) -> None:
    """Refuse more weights a rule than there are features."""
    if not 0 <= leaf_features <= len(features):
        raise ConfigError(
            f"features is {leaf_features}, expected 0 to {len(features)}, the task's own."
        )


def _grown(table: Table, leaves: int) -> list[Node]:
    """Return the nodes of a tree grown best leaf first."""
    everything = np.arange(len(table.observations))
    nodes: list[Node] = [Leaf(())]
    waiting = [Part(everything, 0, table.best_cut(everything))]
    finished: list[Part] = []
    while waiting:
        part = heapq.heappop(waiting)
        if part.cut is None or len(waiting) + len(finished) + 1 >= leaves:
            finished.append(part)
            continue
        below, above = len(nodes), len(nodes) + 1
        nodes[part.node] = Split(part.cut.feature, part.cut.threshold, below, above)
        nodes += [Leaf(()), Leaf(())]
        for node, rows in zip((below, above), table.parted(part.rows, part.cut), strict=True):
            heapq.heappush(waiting, Part(rows, node, table.best_cut(rows)))
    for part in finished:
        nodes[part.node] = table.leaf(part.rows)
    return nodes


def _complete(table: Table, leaves: int) -> list[Node]:
    """Return the nodes of a tree with all leaves at one depth, level by level.

    A part that no split would help is split in the middle all the same; where a side has too few
    pairs for a rule of its own, it gets the rule of the part above.
    """
    if leaves < 2 or leaves & (leaves - 1):
        raise ConfigError(f"leaves is {leaves}, expected a power of two for a balanced tree.")
    nodes: list[Node] = []
    level = [np.arange(len(table.observations))]
    while len(level) < leaves:
        following = []
        for rows in level:
            cut = table.best_cut(rows) or table.middle_cut(rows)
            child = 2 * len(nodes) + 1
            nodes.append(Split(cut.feature, cut.threshold, child, child + 1))
            for side in table.parted(rows, cut):
                following.append(side if len(side) >= table.fewest else rows)
        level = following
    return [*nodes, *(table.leaf(rows) for rows in level)]
