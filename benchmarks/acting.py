"""How fast a policy acts: observations per second in batches, and microseconds for one.

    python benchmarks/acting.py

A tree of 16 leaves over 44 features, as for the single-lane ring, on one core; beside it the plain
loop over `act`.
"""

import time
from statistics import median

import numpy as np

from icct import Action, Controller, Feature, Leaf, Policy, Split

FEATURES, DEPTH, ROWS, ROUNDS = 44, 4, 500_000, 5


def random_tree(leaf_features: int, seed: int = 0) -> Policy:
    """Return a complete tree with random splits and rules."""
    rng = np.random.default_rng(seed)
    nodes: list[Split | Leaf] = []

    def build(depth: int) -> int:
        index = len(nodes)
        used = rng.choice(FEATURES, leaf_features, replace=False)
        rule = Controller(tuple((int(f), float(rng.normal())) for f in used), 0.1)
        nodes.append(Leaf((rule,)))
        if depth:
            below, above = build(depth - 1), build(depth - 1)
            nodes[index] = Split(int(rng.integers(FEATURES)), float(rng.normal()), below, above)
        return index

    build(DEPTH)
    features = tuple(Feature(f"x{i}") for i in range(FEATURES))
    return Policy("random", features, (Action("a"),), tuple(nodes))


def main() -> None:
    """Print a table."""
    table = np.random.default_rng(1).normal(size=(ROWS, FEATURES))
    print("| features per leaf | act_batch, million/s | act, microseconds |")
    print("|---|---|---|")
    for leaf_features in (0, 1, 2, 3, FEATURES):
        policy = random_tree(leaf_features)
        batches, singles = [], []
        for _ in range(ROUNDS):
            began = time.process_time()
            policy.act_batch(table)
            batches.append(ROWS / (time.process_time() - began) / 1e6)
            began = time.process_time()
            for row in table[:5000]:
                policy.act(row)
            singles.append((time.process_time() - began) / 5000 * 1e6)
        print(f"| {leaf_features} | {median(batches):.1f} | {median(singles):.1f} |")


if __name__ == "__main__":
    main()
