"""How long a model tree takes to fit, beside the same tree with a solve for every subset.

    python -m benchmarks.distill_speed [--tasks single-lane-ring figure-eight ...] [--episodes 3]

Pairs come from the complete trees in results/earlier-preset: they drive, and a tree of 8 or 16
leaves with two features a rule is fitted to what they did. Times are processor seconds of one fit;
the error is the mean squared error of the action, in parts of half its range.
"""

import argparse
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np

from icct import read_policy
from icct.distill import Pairs, collect, fit_model_tree
from icct.envs.episodes import EpisodePool
from icct.envs.find import find_task
from icct.envs.task import Task
from icct.policy import Policy
from tests.distill.plain_subsets import plain_best_subset

TEACHERS = Path("results/earlier-preset/policies")
TASKS = {"lunar-lander": 8, "figure-eight": 16, "single-lane-ring": 16, "multi-lane-ring": 16}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--episodes", type=int, default=3)
    parser.add_argument("--features", type=int, default=2, help="of a leaf's rule")
    parser.add_argument("--leaves", type=int, help="8 or 16, as in the paper, by default")
    options = parser.parse_args()
    print("| task | features | pairs | leaves | every subset, s | now, s | ratio | error, both |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.tasks:
        task, leaves = find_task(name), options.leaves or TASKS[name]
        teacher = read_policy(TEACHERS / f"{name}.icct-complete.paper.seed-0.best.json")
        with EpisodePool(task, 1) as pool:
            pairs, _ = collect(teacher, teacher, pool, episodes=options.episodes, seed=0)
        new_s, new = timed(pairs, task, leaves, options.features)
        with patch("icct.distill.table.best_subset", plain_best_subset):
            old_s, old = timed(pairs, task, leaves, options.features)
        print(
            f"| {name} | {len(task.features)} | {len(pairs):,} | {leaves} | {old_s:.1f} | "
            f"{new_s:.2f} | {old_s / new_s:.0f} | {error(old, pairs):.6f}, "
            f"{error(new, pairs):.6f} |",
            flush=True,
        )


def timed(pairs: Pairs, task: Task, leaves: int, features: int) -> tuple[float, Policy]:
    """Return how long one fit takes, and the tree."""
    began = time.process_time()
    tree = fit_model_tree(pairs, task.features, task.actions, leaves=leaves, leaf_features=features)
    return time.process_time() - began, tree


def error(tree: Policy, pairs: Pairs) -> float:
    """Return the mean squared error of the action, in parts of half its range."""
    half = np.array([action.half_range for action in tree.actions])
    missed = (tree.act_batch(pairs.observations) - pairs.actions) / half
    return float((missed**2).sum(1).mean())


if __name__ == "__main__":
    main()
