"""The bounds that diff, edit and simplify report, against samples of hostile policies.

python -m tests.policy.hostile --policies 10000
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from icct.errors import ObservationError
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.difference import ActionBound, difference
from icct.policy.edit import replace_subtree, set_bias, set_threshold, set_weight, subtree_of
from icct.policy.region import end_of, is_empty, leaf_regions
from icct.policy.simplify import simplify
from tests.hostile_policies import LARGEST, hostile_number, hostile_policy, next_float, observations

Changed = tuple[str, Policy, tuple[ActionBound, ...]]


def changed(policy: Policy, rng: np.random.Generator) -> Changed:
    """Return what was done to a policy, what came of it, and the bounds that are reported."""
    kind = rng.integers(8)
    leaf, value = int(rng.choice(policy.leaves)), hostile_number(rng)
    action = policy.actions[rng.integers(len(policy.actions))].name
    if kind == 0 and policy.splits:
        edited, report = set_threshold(policy, int(rng.choice(policy.splits)), value)
        return "edit", edited, report.bounds
    if kind == 1:
        feature = policy.features[rng.integers(len(policy.features))].name
        edited, report = set_weight(policy, leaf, action, feature, value)
        return "edit", edited, report.bounds
    if kind == 2:
        edited, report = set_bias(policy, leaf, action, value)
        return "edit", edited, report.bounds
    if kind == 3:
        source = subtree_of(policy, int(rng.integers(len(policy.nodes))))
        edited, report = replace_subtree(policy, leaf, source)
        return "edit", edited, report.bounds
    if kind == 4:
        simpler, report = simplify(policy, within=abs(value))
        return "simplify", simpler, report.bounds
    if kind == 5:
        simpler, report = simplify(policy, decimals=int(rng.integers(4)), drop_below=abs(value))
        return "simplify", simpler, report.bounds
    other = nudged(policy, rng)
    return "diff", other, difference(policy, other).actions


def nudged(policy: Policy, rng: np.random.Generator) -> Policy:
    """Return a policy whose numbers are a little different, and some of them very different."""

    def number(value: float) -> float:
        kind = rng.random()
        if kind < 0.4:
            return value
        if kind < 0.6:
            return next_float(value, int(rng.integers(-2, 3)))
        if kind < 0.9:
            return min(max(value * (1 + 0.3 * float(rng.normal())), -LARGEST), LARGEST)
        return hostile_number(rng)

    def node(one: Split | Leaf) -> Split | Leaf:
        if isinstance(one, Split):
            return replace(one, threshold=number(one.threshold))
        rules = (
            Controller(tuple((f, number(w)) for f, w in rule.weights), number(rule.bias))
            for rule in one.controllers
        )
        return Leaf(tuple(rules))

    squash = policy.squash if rng.random() < 0.9 else str(rng.choice(["clip", "none", "tanh"]))
    return replace(policy, nodes=tuple(map(node, policy.nodes)), squash=squash)  # type: ignore[arg-type]


def corners(policy: Policy, rng: np.random.Generator, each: int) -> Iterator[tuple[float, ...]]:
    """Yield corners of the leaves' boxes, which is where linear rules differ the most."""
    for box in leaf_regions(policy).values():
        if is_empty(box):
            continue
        for _ in range(each):
            ends = (end_of(interval, int(rng.choice([-1, 1]))) for interval in box)
            yield tuple(min(max(end, -LARGEST), LARGEST) for end in ends)


def exceeded(
    before: Policy,
    after: Policy,
    bounds: tuple[ActionBound, ...],
    rng: np.random.Generator,
    rows: int,
) -> str:
    """Return the first observation at which an action moves further than its bound, in words."""
    table = [*observations(before, rng, rows), *corners(before, rng, 8), *corners(after, rng, 8)]
    for observation in table:
        try:
            one, other = before.act(observation).tolist(), after.act(observation).tolist()
        except ObservationError:
            continue
        for bound, a, b in zip(bounds, one, other, strict=True):
            moved = abs(Fraction(a) - Fraction(b))
            if math.isnan(bound.largest) or moved > bound.largest:
                return (
                    f"{bound.action} moves by {float(moved)}, not {bound.largest}, at {observation}"
                )
    return ""


def check_bounds(seeds: range, rows: int) -> tuple[Counter[str], list[str]]:
    """Return how many bounds of each kind were checked, and which of them were exceeded."""
    kinds: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 2])
        squash = ("clip", "none", "tanh")[seed % 3]
        policy = replace(hostile_policy(seed), squash=squash)
        kind, after, bounds = changed(policy, rng)
        kinds[kind] += 1
        kinds[f"{kind}, finite"] += all(math.isfinite(bound.largest) for bound in bounds)
        if found := exceeded(policy, after, bounds, rng, rows):
            wrong.append(f"{seed}: {kind}: {found}")
    return kinds, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=100, help="samples for each change")
    options = parser.parse_args()
    counted, mistakes = check_bounds(range(options.policies), options.rows)
    print(", ".join(f"{kind} {count}" for kind, count in sorted(counted.items())))
    print(f"{len(mistakes)} exceeded", *mistakes[:20], sep="\n")
