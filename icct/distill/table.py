"""Pairs as regressions: which split of some rows gains most, and which rule is best for them.

Rules have at most e features, chosen and begun before the tanh that squashes them, then refined.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icct.distill.pairs import Pairs
from icct.distill.rule import refined
from icct.distill.subsets import best_subset, coefficients
from icct.policy import Action, Controller, Leaf, Split
from icct.policy.parts import Node

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

CUTS = 32  # thresholds tried for each feature of a leaf
ROWS_PER_TERM = 10  # fewest pairs on each side of a split, for each number of a rule
SATURATED = 0.995  # actions beyond this part of the limits count as this: tanh has no inverse there
LEAST_WEIGHT = 0.1  # of a saturated action; 1 for one in the middle of the limits
NEGLIGIBLE = 1e-8  # mean squared error, in parts of half the range, that no split is worth
FEW = 0.04  # part of all rows below which sorting them is faster than finding them in all
LOG_STD_RANGE = (-3.0, 0.0)  # of the noise to train on with


class Cut(NamedTuple):
    """A split of some rows and the squared error that it takes away."""

    gain: float
    feature: int
    threshold: float


class Table:
    """The pairs as regressions: standardised columns, values before the tanh, and weights.

    An error before the tanh moves the action by 1 - action^2 times as much; its square weighs the
    row, so that the errors added up are those of the action. Rules without features need no such
    approximation: the best constant is the mean action.
    """

    def __init__(self, pairs: Pairs, actions: Sequence[Action], size: int) -> None:
        self.observations, self.size = pairs.observations.astype(np.float64), size
        self.fewest = ROWS_PER_TERM * (size + 1)  # pairs for a rule
        self.mean = self.observations.mean(0)
        spread = self.observations.std(0)
        self.spread = np.where(spread > 1e-12, spread, 1.0)
        centre = np.array([action.centre for action in actions])
        half = np.array([action.half_range for action in actions])
        self._orders = np.argsort(self.observations, axis=0, kind="stable").T.astype(np.int32)
        limit = 1.0 if size == 0 else SATURATED
        self.acted = np.clip((pairs.actions - centre) / half, -limit, limit)
        ones = np.ones((len(pairs), 1))
        self.columns = np.column_stack((ones, (self.observations - self.mean) / self.spread))
        if size == 0:
            self.tables = [np.column_stack((ones, acted)) for acted in self.acted.T]
            return
        root = np.sqrt(np.maximum((1 - self.acted**2) ** 2, LEAST_WEIGHT))
        self.tables = [
            root[:, [a]] * np.column_stack((self.columns, np.arctanh(self.acted[:, a])))
            for a in range(len(actions))
        ]

    def sums(self, rows: Rows) -> Floats:
        """Return the moments of some rows for each action, (actions, m + 2, m + 2)."""
        parts = [table[rows] for table in self.tables]
        return np.stack([part.T @ part for part in parts])

    def orders(self, rows: Rows) -> Iterator[Rows]:
        """Yield, for each feature, the places in `rows`, which rise, by the feature's value."""
        place = np.full(len(self.observations), -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        for feature, whole in enumerate(self._orders):
            if len(rows) < FEW * len(whole):
                yield np.argsort(self.observations[rows, feature], kind="stable")
            else:
                here = place[whole]
                yield here[here >= 0].astype(np.intp)

    def best_cut(self, rows: Rows) -> Cut | None:
        """Return the split that takes away most error, or None where none takes any."""
        if len(rows) < 2 * self.fewest:
            return None
        parts = [table[rows] for table in self.tables]
        whole = np.stack([part.T @ part for part in parts])
        error = best_subset(whole, self.size)[1].sum()
        least, best = max(1e-9 * error, NEGLIGIBLE * len(rows)), None
        for feature, order in enumerate(self.orders(rows)):
            values = self.observations[rows[order], feature]
            ends = _ends(values, self.fewest)
            if not len(ends):
                continue
            below = _running_sums(parts, order, ends)
            left = best_subset(np.stack((below, whole - below)), self.size)[1].sum((0, -1))
            place = int(left.argmin())
            gain = float(error - left[place])
            if gain > least:
                middle = 0.5 * (values[ends[place] - 1] + values[ends[place]])
                least, best = gain, Cut(gain, feature, float(middle))
        return best

    def middle_cut(self, rows: Rows) -> Cut:
        """Return a split in the middle of the feature that varies most; it gains nothing."""
        seen = self.observations[rows]
        feature = int((seen.std(0) / self.spread).argmax())
        return Cut(0.0, feature, float(np.median(seen[:, feature])))

    def parted(self, rows: Rows, cut: Cut | Split) -> tuple[Rows, Rows]:
        """Return the rows below a split and those above."""
        above = self.observations[rows, cut.feature] > cut.threshold
        return rows[~above], rows[above]

    def errors(self, nodes: Sequence[Node], index: int, rows: Rows) -> Floats:
        """Return the squared error of the action of a node's subtree at some rows, (n,)."""
        node = nodes[index]
        if isinstance(node, Leaf):
            acted = np.empty((len(rows), len(node.controllers)))
            for action, rule in enumerate(node.controllers):
                total = np.full(len(rows), rule.bias)
                for feature, weight in rule.weights:
                    total += weight * self.observations[rows, feature]
                acted[:, action] = np.tanh(total)
            return np.asarray(((acted - self.acted[rows]) ** 2).sum(1), np.float64)
        above = self.observations[rows, node.feature] > node.threshold
        errors = np.empty(len(rows))
        errors[~above] = self.errors(nodes, node.below, rows[~above])
        errors[above] = self.errors(nodes, node.above, rows[above])
        return errors

    def leaf(self, rows: Rows) -> Leaf:
        """Return the leaf with the best rules for some rows."""
        sums = self.sums(rows)
        if self.size == 0:
            return _constant_leaf(sums)
        chosen, error = best_subset(sums, self.size)
        rules, log_std = [], []
        for action, columns in enumerate(chosen):
            used = np.concatenate(([0], columns + 1))
            start = coefficients(sums[action], columns)
            design = self.columns[np.ix_(rows, used)]
            constant, *slopes = refined(design, self.acted[rows, action], start).tolist()
            weights = {
                int(f): slope / self.spread[f] for f, slope in zip(columns, slopes, strict=True)
            }
            bias = constant - sum(weight * self.mean[f] for f, weight in weights.items())
            rules.append(Controller(tuple(weights.items()), bias))
            spread = np.sqrt(error[action] / sums[action, 0, 0])
            log_std.append(float(np.clip(np.log(spread + 1e-12), *LOG_STD_RANGE)))
        return Leaf(tuple(rules), tuple(log_std))


def _constant_leaf(sums: Floats) -> Leaf:
    """Return the leaf with the mean of each action, from its moments (actions, 2, 2)."""
    mean = np.clip(sums[:, 0, 1] / sums[:, 0, 0], -SATURATED, SATURATED)
    error = np.maximum(sums[:, 1, 1] / sums[:, 0, 0] - mean**2, 0.0)
    spread = np.sqrt(error) / (1 - mean**2)  # before the tanh
    log_std = np.clip(np.log(spread + 1e-12), *LOG_STD_RANGE)
    return Leaf(
        tuple(Controller((), float(bias)) for bias in np.arctanh(mean)), tuple(log_std.tolist())
    )


def _running_sums(parts: Sequence[Floats], order: Rows, ends: Rows) -> Floats:
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


def _ends(values: Floats, fewest: int) -> Rows:
    """Return up to CUTS places to cut sorted values, between different ones."""
    places = np.flatnonzero(values[1:] > values[:-1]) + 1
    places = places[(places >= fewest) & (places <= len(values) - fewest)]
    if len(places) <= CUTS:
        return places
    wanted = np.linspace(0, len(values), CUTS + 2)[1:-1]
    return np.unique(places[np.minimum(np.searchsorted(places, wanted), len(places) - 1)])
