"""Pairs → a tree whose leaves are linear rules of at most e features, splits and rules together.

Grown greedily like CART, best leaf first, but a split is worth what the best-subset regressions on
its two sides gain over the one above it. Rules are fitted before the tanh that squashes them.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icct.distill.pairs import Pairs
from icct.distill.subsets import best_subset, coefficients
from icct.errors import ConfigError
from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance, Split
from icct.policy.parts import Node

Floats = NDArray[np.float64]

CUTS = 32  # thresholds tried for each feature of a leaf
ROWS_PER_TERM = 10  # fewest pairs on each side of a split, for each number of a rule
SATURATED = 0.995  # actions beyond this part of the limits count as this: tanh has no inverse there
LEAST_WEIGHT = 0.01  # of a saturated action; 1 for one in the middle of the limits
LOG_STD_RANGE = (-3.0, 0.0)  # of the noise to train on with


class Cut(NamedTuple):
    """A split of some rows and the squared error that it takes away."""

    gain: float
    feature: int
    threshold: float


@dataclass(order=True)
class Part:
    """Rows that share a leaf; parts are ordered so that a heap gives the largest gain first."""

    loss: float = field(init=False)
    rows: NDArray[np.intp] = field(compare=False)
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
    name: str = "model-tree",
    provenance: Provenance | None = None,
) -> Policy:
    """Return a tree of at most `leaves` leaves, with at most `leaf_features` weights a rule."""
    if not 0 <= leaf_features <= len(features):
        raise ConfigError(
            f"features is {leaf_features}, expected 0 to {len(features)}, the task's own."
        )
    table = _Table(pairs, actions, leaf_features)
    everything = np.arange(len(pairs))
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
        is_above = pairs.observations[part.rows, part.cut.feature] > part.cut.threshold
        for node, rows in ((below, part.rows[~is_above]), (above, part.rows[is_above])):
            heapq.heappush(waiting, Part(rows, node, table.best_cut(rows)))
    for part in finished:
        nodes[part.node] = table.leaf(part.rows)
    return Policy(
        name, tuple(features), tuple(actions), tuple(nodes), "tanh", provenance or Provenance()
    )


class _Table:
    """The pairs as regressions: standardised columns, values before the tanh, and weights.

    An error before the tanh moves the action by 1 - action^2 times as much; its square weighs the
    row, so that the errors added up are those of the action.
    """

    def __init__(self, pairs: Pairs, actions: Sequence[Action], size: int) -> None:
        self.observations, self.size = pairs.observations.astype(np.float64), size
        self.mean = self.observations.mean(0)
        spread = self.observations.std(0)
        self.spread = np.where(spread > 1e-12, spread, 1.0)
        columns = (self.observations - self.mean) / self.spread
        centre = np.array([action.centre for action in actions])
        half = np.array([action.half_range for action in actions])
        acted = np.clip((pairs.actions - centre) / half, -SATURATED, SATURATED)
        weights = np.maximum((1 - acted**2) ** 2, LEAST_WEIGHT)
        ones = np.ones(len(pairs))
        self.tables = [
            np.sqrt(weights[:, a, None]) * np.column_stack((ones, columns, np.arctanh(acted[:, a])))
            for a in range(len(actions))
        ]

    def sums(self, rows: NDArray[np.intp]) -> Floats:
        """Return the moments of some rows for each action, (actions, m + 2, m + 2)."""
        parts = [table[rows] for table in self.tables]
        return np.stack([part.T @ part for part in parts])

    def best_cut(self, rows: NDArray[np.intp]) -> Cut | None:
        """Return the split that takes away most error, or None where none takes any."""
        fewest = ROWS_PER_TERM * (self.size + 1)
        if len(rows) < 2 * fewest:
            return None
        parts = [table[rows] for table in self.tables]
        whole = np.stack([part.T @ part for part in parts])
        error = best_subset(whole, self.size)[1].sum()
        best: Cut | None = None
        for feature in range(self.observations.shape[1]):
            values = self.observations[rows, feature]
            order = np.argsort(values, kind="stable")
            values = values[order]
            ends = _ends(values, fewest)
            if not len(ends):
                continue
            below = _running_sums(parts, order, ends)
            left = best_subset(np.stack((below, whole - below)), self.size)[1].sum((0, -1))
            place = int(left.argmin())
            gain = float(error - left[place])
            if gain > 1e-9 * error and (best is None or gain > best.gain):
                middle = 0.5 * (values[ends[place] - 1] + values[ends[place]])
                best = Cut(gain, feature, float(middle))
        return best

    def leaf(self, rows: NDArray[np.intp]) -> Leaf:
        """Return the leaf with the best rules for some rows."""
        sums = self.sums(rows)
        chosen, error = best_subset(sums, self.size)
        rules, log_std = [], []
        for action, columns in enumerate(chosen):
            constant, *slopes = coefficients(sums[action], columns).tolist()
            weights = {
                int(f): slope / self.spread[f] for f, slope in zip(columns, slopes, strict=True)
            }
            bias = constant - sum(weight * self.mean[f] for f, weight in weights.items())
            rules.append(Controller(tuple(weights.items()), bias))
            spread = np.sqrt(error[action] / sums[action, 0, 0])
            log_std.append(float(np.clip(np.log(spread + 1e-12), *LOG_STD_RANGE)))
        return Leaf(tuple(rules), tuple(log_std))


def _running_sums(
    parts: Sequence[Floats], order: NDArray[np.intp], ends: NDArray[np.intp]
) -> Floats:
    """Return the moments of the rows before each end, (ends, actions, m + 2, m + 2)."""
    width = parts[0].shape[1]
    sums = np.empty((len(ends), len(parts), width, width))
    for action, part in enumerate(parts):
        ordered = part[order]
        for place, (start, end) in enumerate(zip((0, *ends), ends, strict=False)):
            rows = ordered[start:end]
            sums[place, action] = rows.T @ rows
    for place in range(1, len(ends)):
        sums[place] += sums[place - 1]
    return sums


def _ends(values: Floats, fewest: int) -> NDArray[np.intp]:
    """Return up to CUTS places to cut sorted values, between different ones."""
    places = np.flatnonzero(values[1:] > values[:-1]) + 1
    places = places[(places >= fewest) & (places <= len(values) - fewest)]
    if len(places) <= CUTS:
        return places
    wanted = np.linspace(0, len(values), CUTS + 2)[1:-1]
    return np.unique(places[np.minimum(np.searchsorted(places, wanted), len(places) - 1)])
