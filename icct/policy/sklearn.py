"""A fitted regression tree of scikit-learn → Policy. Reads the tree, never imports scikit-learn.

scikit-learn rounds observations to float32 and goes left when the rounded number is at most the
threshold. The policy's thresholds are moved so that it takes the same side for every number,
rounded or not.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from icct.errors import PolicyError
from icct.policy.parts import Action, Controller, Feature, Leaf, Node, Provenance, Split
from icct.policy.policy import Policy

LEAF = -1  # scikit-learn's mark for "no child"


def from_sklearn(
    tree: Any,
    features: Sequence[Feature] | None = None,
    actions: Sequence[Action] | None = None,
    *,
    name: str = "cart",
) -> Policy:
    """Return a fitted `DecisionTreeRegressor` as a policy with a constant action in each leaf.

    Args:
        tree: The fitted regressor, with one output for each action.
        features: Names, units and bounds of its inputs; by default the names it was fitted with,
            or x0, x1, ...
        actions: Names and limits of its outputs; by default y0, y1, ... without limits. The
            actions are the tree's predictions, not cut at the limits.
        name: What to call the policy.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_leaf_nodes=2).fit([[0.0], [1.0], [2.0]], [5.0, 5.0, 8.0])
    >>> policy = from_sklearn(tree, [Feature("gap", "m")], [Action("speed", "m/s", 0, 9)])
    >>> policy.act([1.6])
    array([8.])
    """
    fitted = getattr(tree, "tree_", None)
    if fitted is None or getattr(fitted, "value", np.empty(0)).shape[2:] != (1,):
        raise PolicyError(
            f"{type(tree).__name__} is not a fitted DecisionTreeRegressor; call fit first."
        )
    if features is None:
        names = getattr(tree, "feature_names_in_", [f"x{i}" for i in range(fitted.n_features)])
        features = [Feature(str(name)) for name in names]
    if actions is None:
        actions = [Action(f"y{i}", low=-np.inf, high=np.inf) for i in range(fitted.n_outputs)]
    for kind, given, expected in (
        ("features", features, fitted.n_features),
        ("actions", actions, fitted.n_outputs),
    ):
        if len(given) != expected:
            raise PolicyError(f"{len(given)} {kind} were given, but the tree has {expected}.")
    return Policy(
        name=name,
        features=tuple(features),
        actions=tuple(actions),
        nodes=tuple(_node(fitted, index) for index in range(fitted.node_count)),
        squash="none",
        provenance=Provenance(method="dt", history=("imported from scikit-learn",)),
    )


def float32_threshold(threshold: float) -> float:
    """Return the largest number that, rounded to float32, is at most the threshold.

    >>> float32_threshold(0.5) > 0.5  # numbers a little above 0.5 round to it
    True
    """
    largest = np.finfo(np.float32).max
    if not -float(largest) <= threshold < float(largest):
        return threshold  # no observation that scikit-learn takes lies beyond
    low = np.float32(threshold)
    if float(low) > threshold:
        low = np.nextafter(low, -np.float32(np.inf))
    high = np.nextafter(low, np.float32(np.inf))
    middle = (float(low) + float(high)) / 2  # exact; a tie rounds to the even one of the two
    rounds_down = float(np.float32(middle)) == float(low)
    return middle if rounds_down else float(np.nextafter(middle, -np.inf))


def _node(fitted: Any, index: int) -> Node:
    below, above = int(fitted.children_left[index]), int(fitted.children_right[index])
    if below == LEAF:
        return Leaf(tuple(Controller((), float(value)) for value in fitted.value[index, :, 0]))
    threshold = float32_threshold(float(fitted.threshold[index]))
    return Split(int(fitted.feature[index]), threshold, below, above)
