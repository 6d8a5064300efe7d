"""A regression tree of scikit-learn → Policy. Reads its arrays and never imports scikit-learn.

scikit-learn goes left where a float32 observation is at most the threshold, which is our `below`:
on float32 observations, which are all that the tasks give, both reach the same leaf, ties included.
"""

from collections.abc import Sequence
from typing import Any

from icct.errors import PolicyError
from icct.policy.parts import Action, Controller, Feature, Leaf, Node, Provenance, Split, Squash
from icct.policy.policy import Policy

LEAF = -1  # what scikit-learn writes for a child that is not there


def from_sklearn(
    regressor: Any,
    features: Sequence[Feature],
    actions: Sequence[Action],
    *,
    name: str = "cart",
    squash: Squash = "clip",
    provenance: Provenance | None = None,
) -> Policy:
    """Return a fitted `DecisionTreeRegressor` as a policy with constant leaves.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> regressor = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [0.5, 0.5, -1.0])
    >>> policy = from_sklearn(regressor, [Feature("x")], [Action("force")])
    >>> policy.nodes[0]
    Split(feature=0, threshold=1.5, below=1, above=2)
    >>> policy.act([1.5]), policy.act([1.6])
    (array([0.5]), array([-1.]))
    """
    if not hasattr(regressor, "tree_"):
        raise PolicyError(
            f"{type(regressor).__name__} has no tree: expected a DecisionTreeRegressor that was "
            "fitted, so call its fit first."
        )
    tree = regressor.tree_
    if hasattr(regressor, "classes_"):
        raise PolicyError(
            f"{type(regressor).__name__} predicts classes, and a policy acts with numbers: "
            "fit a DecisionTreeRegressor."
        )
    found, expected = (tree.n_features, tree.n_outputs), (len(features), len(actions))
    if found != expected:
        raise PolicyError(
            f"The tree was fitted to {found[0]} features and {found[1]} actions; {expected[0]} "
            f"and {expected[1]} were named."
        )
    nodes: list[Node] = []
    for index in range(tree.node_count):
        below, above = int(tree.children_left[index]), int(tree.children_right[index])
        if below == LEAF:
            values = tree.value[index, :, 0].tolist()
            nodes.append(Leaf(tuple(Controller(bias=value) for value in values)))
        else:
            feature, threshold = int(tree.feature[index]), float(tree.threshold[index])
            nodes.append(Split(feature, threshold, below, above))
    return Policy(
        name, tuple(features), tuple(actions), tuple(nodes), squash, provenance or Provenance()
    )
