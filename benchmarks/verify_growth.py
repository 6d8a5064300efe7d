"""How the time to prove one property grows with the tree: 2^4 to 2^14 leaves, 44 features.

Usage: python benchmarks/verify_growth.py [--figure docs/figures/verify_growth.png] [--repeats 7]

Balanced random trees over the single-lane ring's 44 features, two features per leaf. Every split
halves the box it gets, so that all leaves are reachable, and each of them must be looked at. Prints
a Markdown table of medians of processor time (one thread), and the slope of a straight line through
log time over log leaves.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from icct.envs.catalog import SINGLE_LANE_RING
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.region import Box, bounds, halves
from icct.verify import Property, Proved, check

QUESTIONS = {
    "range": "abs(acceleration) <= 0.999",
    "premise": "when speed_ego > 0.25 then acceleration <= 0.999",
    "two features": "when position_ego - position_human_20 < 0.02 then acceleration <= 0.999",
}
SIZES = range(4, 15)


def random_tree(depth: int, seed: int = 0) -> Policy:
    """Return a full tree in which every leaf can be reached."""
    rng = np.random.default_rng(seed)
    nodes: list[Split | Leaf] = []

    def grow(level: int, box: Box) -> int:
        index = len(nodes)
        if level == depth:
            used = rng.choice(44, size=2, replace=False)
            weights = tuple((int(f), float(rng.uniform(-1, 1))) for f in used)
            nodes.append(Leaf((Controller(weights, float(rng.uniform(-1, 1))),)))
            return index
        nodes.append(Leaf(()))  # a place for the split, whose children are not known yet
        feature = int(rng.integers(44))
        middle = (box[feature].low + box[feature].high) / 2
        below, above = halves(box, Split(feature, middle, 0, 0))
        nodes[index] = Split(feature, middle, grow(level + 1, below), grow(level + 1, above))
        return index

    task = SINGLE_LANE_RING
    start = Policy("empty", task.features, task.actions, (Leaf((Controller(),)),))
    grow(0, bounds(start))
    return Policy(f"random-{2**depth}", task.features, task.actions, tuple(nodes))


def median_ms(work: Callable[[], object], repeats: int) -> float:
    """Return the median processor time of a call in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def main() -> None:
    """Measure, print the table, draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", help="where to save a log-log figure")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    leaves = [2**depth for depth in SIZES]
    times: dict[str, list[float]] = {name: [] for name in QUESTIONS}
    for depth in SIZES:
        policy = random_tree(depth)
        for name, text in QUESTIONS.items():
            question = Property(text)
            assert isinstance(check(policy, question), Proved)
            repeats = options.repeats if depth < 12 else 3
            work = lambda p=policy, q=question: check(p, q)  # noqa: E731
            times[name].append(median_ms(work, repeats))
    print("| leaves | " + " | ".join(f"{name} (ms)" for name in QUESTIONS) + " |")
    print("|---|" + "---|" * len(QUESTIONS))
    for row, count in enumerate(leaves):
        print(f"| {count} | " + " | ".join(f"{times[n][row]:.2f}" for n in QUESTIONS) + " |")
    slopes = {n: np.polyfit(np.log(leaves), np.log(times[n]), 1)[0] for n in QUESTIONS}
    print("| slope | " + " | ".join(f"{slopes[name]:.3f}" for name in QUESTIONS) + " |")
    if options.figure:
        draw(leaves, times, slopes, options.figure)


def draw(
    leaves: list[int], times: dict[str, list[float]], slopes: dict[str, float], path: str
) -> None:
    """Save the log-log figure."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for name, values in times.items():
        axes.loglog(leaves, values, "o-", label=f"{name}: slope {slopes[name]:.2f}")
    axes.set_xlabel("leaves")
    axes.set_ylabel("time to prove (ms)")
    axes.legend()
    axes.grid(which="both", alpha=0.3)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
