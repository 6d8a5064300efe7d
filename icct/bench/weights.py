"""A run of trees with L1-regularised leaves → how many weights are left, by size."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from icct.learn.run import group_names, read_configs, snapshot_path
from icct.learn.snapshot import read_snapshot
from icct.policy import Leaf, Policy


@dataclass(frozen=True)
class Weighed:
    """One policy: its leaf weights, and how many exceed each threshold."""

    method: str
    seed: int
    leaves: int
    weights: int
    above: tuple[int, ...]


def weights_above(policy: Policy, threshold: float) -> int:
    """Return how many leaf weights exceed a threshold in magnitude."""
    return sum(abs(weight) > threshold for weight in leaf_weights(policy))


def leaf_weights(policy: Policy) -> list[float]:
    """Return all weights of all leaves."""
    leaves = [node for node in policy.nodes if isinstance(node, Leaf)]
    return [w for leaf in leaves for rule in leaf.controllers for _, w in rule.weights]


def weigh_run(run: Path, thresholds: Sequence[float]) -> list[Weighed]:
    """Count the leaf weights of the final policies of a run."""
    configs, found = read_configs(run), []
    for config, name in zip(configs, group_names(configs), strict=True):
        for seed in config.seeds:
            policy = read_snapshot(snapshot_path(run, name, len(configs), seed, "final"))
            if isinstance(policy, Policy):
                above = tuple(weights_above(policy, threshold) for threshold in thresholds)
                count = len(leaf_weights(policy))
                found.append(Weighed(config.method, seed, len(policy.leaves), count, above))
    return found


def weights_table(weighed: Sequence[Weighed], thresholds: Sequence[float]) -> str:
    """Return the counts as Markdown."""
    over = " | ".join(f"above {threshold:g}" for threshold in thresholds)
    lines = [
        f"| method | seed | leaves | leaf weights | {over} |",
        "|---|---|---|---|" + "---|" * len(thresholds),
    ]
    for one in weighed:
        counts = " | ".join(str(count) for count in one.above)
        lines.append(f"| {one.method} | {one.seed} | {one.leaves} | {one.weights} | {counts} |")
    return "\n".join(lines)
