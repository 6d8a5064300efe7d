"""A fitted tree → the same shape with its splits moved to where the action's error is least.

Growing is greedy: a split is chosen before those below it are known. Here each split moves, the
deepest first, while the rules on its two sides stand still (tree alternating optimisation,
Carreira-Perpiñán and Tavallali, 2018); then rules are fitted anew.
"""

from collections.abc import Sequence

import numpy as np

from icct.distill.table import NEGLIGIBLE, Cut, Floats, Rows, Table
from icct.policy import Leaf, Split
from icct.policy.parts import Node

PASSES = 5  # over all splits; most trees stand still before
ENOUGH = 1e-6  # part of the error that a move must take away


def with_moved_splits(table: Table, start: Sequence[Node]) -> list[Node]:
    """Return the nodes of a tree of the same shape, with an error no larger than before."""
    best = nodes = list(start)
    everything = np.arange(len(table.observations))
    least = table.errors(nodes, 0, everything).sum()
    for _ in range(PASSES):
        nodes, moved = _moved_once(table, nodes)
        if not moved:
            break
        error = table.errors(nodes, 0, everything).sum()
        if error < least:
            best, least = nodes, error
    return best


def fit_rules(table: Table, nodes: Sequence[Node], index: int, rows: Rows) -> list[Node]:
    """Return the nodes with the best rules in the leaves below one of them, for these rows.

    A leaf that too few pairs reach gets the rule that is best for all that pass the split above.
    """
    fitted, waiting = list(nodes), [(index, rows)]
    while waiting:
        place, here = waiting.pop()
        node = fitted[place]
        if isinstance(node, Leaf):
            fitted[place] = table.leaf(here)
            continue
        sides = table.parted(here, node)
        for child, side in zip((node.below, node.above), sides, strict=True):
            waiting.append((child, side if len(side) >= table.fewest else here))
    return fitted


def _moved_once(table: Table, nodes: list[Node]) -> tuple[list[Node], bool]:
    """Return the nodes after one pass over all splits, and whether any moved."""
    moved = False
    for index, rows in reversed(_reached(table, nodes)):
        node = nodes[index]
        cut = _better_cut(table, nodes, node, rows) if isinstance(node, Split) else None
        if cut is None or not isinstance(node, Split):
            continue
        moved = True
        nodes = list(nodes)
        nodes[index] = Split(cut.feature, cut.threshold, node.below, node.above)
        nodes = fit_rules(table, nodes, index, rows)
    return nodes, moved


def _reached(table: Table, nodes: Sequence[Node]) -> list[tuple[int, Rows]]:
    """Return (split, rows that reach it), parents before their children."""
    found, waiting = [], [(0, np.arange(len(table.observations)))]
    while waiting:
        index, rows = waiting.pop(0)
        node = nodes[index]
        if isinstance(node, Split):
            found.append((index, rows))
            waiting += zip((node.below, node.above), table.parted(rows, node), strict=True)
    return found


def _better_cut(table: Table, nodes: Sequence[Node], node: Split, rows: Rows) -> Cut | None:
    """Return the best place for a split, or None where it is there already."""
    if len(rows) < 2 * table.fewest:
        return None
    below, above = (table.errors(nodes, child, rows) for child in (node.below, node.above))
    price = below - above  # of sending a row below
    values = table.observations[rows]
    now = price[values[:, node.feature] <= node.threshold].sum()
    least = now - max(ENOUGH * np.minimum(below, above).sum(), NEGLIGIBLE * len(rows))
    best: Cut | None = None
    for feature, order in enumerate(table.orders(rows)):
        found = _cheapest(values[order, feature], price[order], table.fewest)
        if found is not None and found[0] < least:
            least, threshold = found
            best = Cut(float(now - least), feature, threshold)
    return best


def _cheapest(values: Floats, price: Floats, fewest: int) -> tuple[float, float] | None:
    """Return the least price of all rows below some threshold, and the threshold."""
    ends = np.arange(fewest, len(values) - fewest + 1)
    ends = ends[values[ends] > values[ends - 1]] if len(ends) else ends
    if not len(ends):
        return None
    prices = np.cumsum(price)[ends - 1]
    place = int(prices.argmin())
    end = ends[place]
    return float(prices[place]), float(0.5 * (values[end - 1] + values[end]))
