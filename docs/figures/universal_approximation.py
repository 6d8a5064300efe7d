"""Trees of growing depth come as close to a continuous function as one likes.

The paper argues that trees with static leaves are universal approximators. This script makes it
concrete: for f(x, y) = sin(3 x) cos(2 y) + x y on the unit square it builds policies with constant
leaves, doubling the leaves at each step by halving the box with the largest error along the side
that helps most, and measures the largest and the mean error on a fine grid.

    python docs/figures/universal_approximation.py        writes universal_approximation.png
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from icct import Action, Controller, Feature, Leaf, Policy, Split

FEATURES = (Feature("x", "", 0, 1), Feature("y", "", 0, 1))
ACTIONS = (Action("f", "", -3, 3),)
GRID = 401


def target(points: np.ndarray) -> np.ndarray:
    x, y = points[..., 0], points[..., 1]
    return np.sin(3 * x) * np.cos(2 * y) + x * y


def tree_of_depth(depth: int) -> Policy:
    """Return a complete tree: every box is cut in the middle of the side with the larger change."""
    nodes: list[Split | Leaf] = []

    def build(low: np.ndarray, high: np.ndarray, remaining: int) -> int:
        index = len(nodes)
        axes = [np.linspace(low[i], high[i], 9) for i in range(2)]
        values = target(np.stack(np.meshgrid(*axes, indexing="ij"), -1))
        middle = Leaf((Controller(bias=float(values.min() + values.max()) / 2),))
        nodes.append(middle)
        if remaining:
            side = int(np.argmax([np.ptp(values, axis=i).max() for i in range(2)]))
            half = (low[side] + high[side]) / 2
            below_high, above_low = high.copy(), low.copy()
            below_high[side] = above_low[side] = half
            below = build(low, below_high, remaining - 1)
            above = build(above_low, high, remaining - 1)
            nodes[index] = Split(side, float(half), below, above)
        return index

    build(np.zeros(2), np.ones(2), depth)
    return Policy(f"depth-{depth}", FEATURES, ACTIONS, tuple(nodes), "none")


def main() -> None:
    axis = np.linspace(0, 1, GRID)
    points = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    truth = target(points)
    depths = range(15)
    policies = [tree_of_depth(depth) for depth in depths]
    errors = [np.abs(policy.act_batch(points)[:, 0] - truth) for policy in policies]
    print("depth  leaves  largest error  mean error")
    for depth, policy, error in zip(depths, policies, errors, strict=True):
        print(f"{depth:5}  {len(policy.leaves):6}  {error.max():13.5f}  {error.mean():10.5f}")

    figure, (curve, *pictures) = plt.subplots(1, 4, figsize=(13, 3.3), layout="constrained")
    leaves = [len(policy.leaves) for policy in policies]
    curve.loglog(leaves, [error.max() for error in errors], "o-", label="largest")
    curve.loglog(leaves, [error.mean() for error in errors], "s-", label="mean")
    curve.set(xlabel="leaves", ylabel="error", title="Error falls with depth")
    curve.legend()
    curve.grid(alpha=0.3)
    shown = [(4, "16 leaves"), (8, "256 leaves"), (None, "the function")]
    for axes, (depth, title) in zip(pictures, shown, strict=True):
        values = truth if depth is None else policies[depth].act_batch(points)[:, 0]
        image = values.reshape(GRID, GRID)
        axes.imshow(image, origin="lower", extent=(0, 1, 0, 1), vmin=truth.min(), vmax=truth.max())
        axes.set(title=title, xlabel="x", ylabel="y")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
