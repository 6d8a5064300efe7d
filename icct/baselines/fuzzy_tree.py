"""A trained fuzzy tree (CDDT) that acts with numpy alone: every leaf counts a little."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.baselines.perceptron import checked, squashed
from icct.errors import PolicyError
from icct.policy import Action, Feature

KIND = "fuzzy-tree"


class FuzzyTreeActor:
    """Sigmoid nodes over all features; the mean of the leaves' values, weighted by their paths.

    Tensors: node_weights (N, m), node_biases (N,), sharpness (N or 1,), leaf_biases (L, A) and,
    for leaves with linear controllers, leaf_weights (L, A, m).
    """

    kind = KIND

    def __init__(
        self,
        name: str,
        features: Sequence[Feature],
        actions: Sequence[Action],
        tensors: dict[str, NDArray[np.float32]],
    ) -> None:
        self.name, self.features, self.actions = name, tuple(features), tuple(actions)
        self.tensors = tensors
        try:
            nodes = len(tensors["node_biases"])
            size, leaf = len(self.features), (nodes + 1, len(self.actions))
            expected: dict[str, tuple[int, ...]] = {"node_weights": (nodes, size)}
            expected["leaf_biases"] = leaf
            if "leaf_weights" in tensors:
                expected["leaf_weights"] = (*leaf, size)
            for key, shape in expected.items():
                if tensors[key].shape != shape:
                    raise PolicyError(
                        f"{name}: {key} has shape {tensors[key].shape}, expected {shape}."
                    )
            if tensors["sharpness"].shape not in ((nodes,), (1,)):
                raise PolicyError(f"{name}: sharpness has shape {tensors['sharpness'].shape}.")
        except KeyError as error:
            raise PolicyError(f"{name}: there is no tensor {error}.") from None

    @property
    def parameter_count(self) -> int:
        """The number of parameters by the paper's formula for CDDT."""
        nodes, size = len(self.tensors["node_biases"]), len(self.features)
        rule = size + 1 if "leaf_weights" in self.tensors else 1
        return (size + 2) * nodes + rule * len(self.actions) * (nodes + 1)

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Return the action for one observation, shape (n_actions,)."""
        values = checked(self.name, observation, self.features)
        t = self.tensors
        scores = t["sharpness"] * (t["node_weights"] @ values - t["node_biases"])
        outcomes = 0.5 * (1 + np.tanh(0.5 * scores))  # the sigmoid, without overflow
        weights: NDArray[np.floating] = np.ones(1, np.float32)
        first = 0
        while first < len(outcomes):
            level = outcomes[first : first + len(weights)]
            first += len(weights)
            weights = np.stack((weights * level, weights * (1 - level)), axis=-1).reshape(-1)
        leaves = t["leaf_biases"]
        if "leaf_weights" in t:
            leaves = leaves + t["leaf_weights"] @ values
        return squashed(weights @ leaves, self.actions)
