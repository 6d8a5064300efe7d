"""Policies with numbers from 1e-320 to 1e308, and observations where float64 is at its worst.

Bounds are one number, a few floats, one-sided or missing; thresholds tie with them or lie next to
them; products overflow, underflow and cancel.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from icct.policy import Action, Controller, Feature, Leaf, Policy, Split

LARGEST = sys.float_info.max
PLACES = (0.0, 5e-324, 1e-320, 2.2250738585072014e-308, 0.1, 1.0, 2.0**53, 1e16, 1e155, LARGEST)
MOST_OBSERVATIONS = 4_000  # of a box that is tried whole


def hostile_number(rng: np.random.Generator) -> float:
    """Return any float: 0, whole, ordinary, of any magnitude, or at a place where things change."""
    sign = float(rng.choice([-1.0, 1.0]))
    kind = rng.integers(10)
    if kind < 3:
        return float(rng.integers(-3, 4))
    if kind < 6:
        return float(rng.normal() * 10.0 ** rng.integers(-3, 4))
    if kind < 9:
        return sign * min(rng.uniform(1, 10) * float(f"1e{rng.integers(-320, 309)}"), LARGEST)
    place = float(rng.choice(PLACES))
    return sign * float(rng.choice([place, next_float(place, 1), next_float(place, -1)]))


def next_float(number: float, steps: int) -> float:
    """Return a neighbour of a float; the largest floats have none beyond them."""
    for _ in range(abs(steps)):
        number = math.nextafter(number, math.copysign(math.inf, steps))
    return min(max(number, -LARGEST), LARGEST)


def hostile_bounds(rng: np.random.Generator) -> tuple[float, float]:
    """Return bounds: one number, a few floats, one-sided, none, or two hostile numbers."""
    low, kind = hostile_number(rng), rng.integers(8)
    if kind == 0:
        return low, low
    if kind == 1:
        return low, next_float(low, int(rng.integers(1, 12)))
    if kind == 2:
        return (low, math.inf) if rng.random() < 0.5 else (-math.inf, low)
    if kind == 3:
        return -math.inf, math.inf
    if kind < 6:
        return -abs(low), abs(low)
    low, high = sorted((low, hostile_number(rng)))
    return low, high


def hostile_policy(seed: int) -> Policy:
    """Return a small tree: any numbers, weights that fit their features, or terms that cancel."""
    rng = np.random.default_rng(seed)
    style = ("any", "fitting", "cancelling")[rng.integers(3)]
    features = [hostile_bounds(rng) for _ in range(rng.integers(1, 4))]
    actions = int(rng.integers(1, 3))
    if style == "cancelling":
        power = rng.choice([int(rng.integers(-3, 309)), 16, 307, 308])
        size = min(rng.uniform(1, 10) * float(f"1e{power}"), LARGEST)
        ends = [(size / 2, size), (-size, size), (-math.inf, math.inf), (size / 2, math.inf)]
        features = [ends[rng.choice(4, p=[0.5, 0.3, 0.1, 0.1])]] * max(2, len(features))

    def weight(feature: int) -> float:
        reach = max((abs(end) for end in features[feature] if math.isfinite(end)), default=1.0)
        if style == "any" or not 1e-290 < reach < 1e290:
            return hostile_number(rng)
        return float(rng.normal()) / reach

    def rule() -> Controller:
        used = rng.choice(len(features), size=rng.integers(0, len(features) + 1), replace=False)
        bias = hostile_number(rng) if style == "any" else float(rng.integers(-1, 2))
        if style == "cancelling":
            pair = rng.permutation(len(features))[:2]
            return Controller(
                tuple((int(f), w) for f, w in zip(pair, (1.0, -1.0), strict=True)), bias
            )
        return Controller(tuple((int(f), weight(int(f))) for f in used), bias)

    def threshold(feature: int) -> float:
        ends = [end for end in features[feature] if math.isfinite(end)]
        if not ends or rng.random() < 0.3:
            return hostile_number(rng)
        if rng.random() < 0.5 and len(ends) == 2:
            return ends[0] / 2 + ends[1] / 2
        return next_float(float(rng.choice(ends)), int(rng.integers(-1, 2)))

    def leaf() -> Leaf:
        return Leaf(tuple(rule() for _ in range(actions)))

    nodes: list[Split | Leaf] = [leaf()]
    for _ in range(rng.integers(0, 4)):
        place = int(rng.choice([i for i, node in enumerate(nodes) if isinstance(node, Leaf)]))
        feature = int(rng.integers(len(features)))
        nodes += [nodes[place], leaf()]
        nodes[place] = Split(feature, threshold(feature), len(nodes) - 2, len(nodes) - 1)
    limits = [sorted(hostile_number(rng) for _ in range(2)) for _ in range(actions)]
    if rng.random() < 0.5:
        limits = [[-1.0, 1.0] for _ in range(actions)]
    return Policy(
        f"hostile-{seed}",
        tuple(Feature(f"x{i}", "", *ends) for i, ends in enumerate(features)),
        tuple(Action(f"a{i}", "", *ends) for i, ends in enumerate(limits)),
        tuple(nodes),
        "clip",
    )


def observations(
    policy: Policy, rng: np.random.Generator, rows: int, more: Sequence[float] = ()
) -> Iterator[tuple[float, ...]]:
    """Yield observations in the bounds: at ends, thresholds, `more` numbers, and next to them."""
    places = [[*_places(policy, feature), *more] for feature in range(len(policy.features))]
    for _ in range(rows):
        values = []
        for feature, near in zip(policy.features, places, strict=True):
            kind = rng.random()
            value = float(rng.choice(near))
            if kind < 0.3:
                value = next_float(value, int(rng.integers(-2, 3)))
            elif kind < 0.6:
                low, high = max(feature.low, -LARGEST), min(feature.high, LARGEST)
                share = float(rng.random())
                value = low * (1 - share) + high * share
            elif kind < 0.8:
                value = hostile_number(rng)
            if values and rng.random() < 0.4:  # next to another feature, or its negative
                value = next_float(float(rng.choice(values)), int(rng.integers(-1, 2)))
                value *= float(rng.choice([1.0, 1.0, 1.0, -1.0]))
            values.append(min(max(value, feature.low), feature.high))
        yield tuple(values)


def _places(policy: Policy, feature: int) -> list[float]:
    own = policy.features[feature]
    places = [end for end in (own.low, own.high) if math.isfinite(end)] + [0.0, 1.0, -1.0]
    return places + [
        n.threshold for n in policy.nodes if isinstance(n, Split) and n.feature == feature
    ]


def all_observations(policy: Policy) -> list[tuple[float, ...]] | None:
    """Return every observation inside the bounds; None when they are too many."""
    columns, count = [], 1
    for feature in policy.features:
        column, value = [], feature.low
        while value <= feature.high and len(column) <= MOST_OBSERVATIONS // count:
            column.append(value)
            value = math.nextafter(value, math.inf)
        columns.append(column)
        count *= len(column)
        if count > MOST_OBSERVATIONS or not math.isfinite(feature.low):
            return None
    return list(product(*columns))


def small_box(policy: Policy, rng: np.random.Generator) -> Policy:
    """Return the policy with bounds that hold few floats, around a threshold where it has one."""

    def few(feature: Feature, index: int) -> Feature:
        cuts = [n.threshold for n in policy.nodes if isinstance(n, Split) and n.feature == index]
        start = next_float(float(rng.choice(cuts or [hostile_number(rng)])), -int(rng.integers(6)))
        return replace(feature, low=start, high=next_float(start, int(rng.integers(10))))

    return replace(policy, features=tuple(few(f, i) for i, f in enumerate(policy.features)))
