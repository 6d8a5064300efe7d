"""A tree trained with Gumbel noise, still noisy: every choice is drawn anew. With numpy alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.baselines.perceptron import checked, squashed
from icct.errors import PolicyError
from icct.policy import Action, Feature

KIND = "noisy-tree"


class NoisyTreeActor:
    """Gumbel noise in which feature a node tests, which side it takes, and what a leaf looks at.

    Tensors: node_weights (N, m), node_biases (N,), sharpness (N or 1,), and for the leaves
    leaf_biases (L, A) alone (static), with leaf_weights (L, A, m) (complete), or leaf_weights,
    leaf_biases and leaf_selectors (L, A, m) with leaf_features (1,), their number (sparse).
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
        self._random = np.random.default_rng(0)
        try:
            nodes = len(tensors["node_biases"])
            size, leaf = len(self.features), (nodes + 1, len(self.actions))
            sparse = "leaf_selectors" in tensors
            expected: dict[str, tuple[int, ...]] = {"node_weights": (nodes, size)}
            expected["leaf_biases"] = (*leaf, size) if sparse else leaf
            if "leaf_weights" in tensors or sparse:
                expected["leaf_weights"] = (*leaf, size)
            if sparse:
                expected |= {"leaf_selectors": (*leaf, size), "leaf_features": (1,)}
            for key, shape in expected.items():
                if tensors[key].shape != shape:
                    raise PolicyError(
                        f"{name}: {key} has shape {tensors[key].shape}, expected {shape}."
                    )
            if tensors["sharpness"].shape not in ((nodes,), (1,)):
                raise PolicyError(f"{name}: sharpness has shape {tensors['sharpness'].shape}.")
            if sparse and not 1 <= int(tensors["leaf_features"][0]) <= size:
                raise PolicyError(f"{name}: leaf_features is not 1 to {size}.")
        except KeyError as error:
            raise PolicyError(f"{name}: there is no tensor {error}.") from None

    def begin(self, seed: int) -> None:
        """Start an episode: the same seed draws the same noise."""
        self._random = np.random.default_rng(seed)

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Return the action for one observation, shape (n_actions,)."""
        values = checked(self.name, observation, self.features)
        t, nodes = self.tensors, len(self.tensors["node_biases"])
        rows = np.arange(nodes)
        chosen = (np.abs(t["node_weights"]) + self._gumbel(t["node_weights"].shape)).argmax(-1)
        scores = t["node_weights"][rows, chosen] * values[chosen] - t["node_biases"]
        noise = self._gumbel((nodes, 2))
        is_true = t["sharpness"] * scores + noise[:, 0] - noise[:, 1] > 0
        index = 0
        while index < nodes:  # level by level, the true branch first
            index = 2 * index + (1 if is_true[index] else 2)
        return squashed(self._leaf(index - nodes, values), self.actions)

    def _leaf(self, leaf: int, values: NDArray[np.float32]) -> NDArray[np.floating]:
        t = self.tensors
        if "leaf_weights" not in t:
            return np.asarray(t["leaf_biases"][leaf])
        if "leaf_selectors" not in t:
            return np.asarray(t["leaf_biases"][leaf] + t["leaf_weights"][leaf] @ values)
        selectors = t["leaf_selectors"][leaf]
        # One draw for all picks: they are distributed as with a draw for each of them.
        order = np.argsort(-(np.abs(selectors) + self._gumbel(selectors.shape)), axis=-1)
        chosen = order[:, : int(t["leaf_features"][0])]
        weights = np.take_along_axis(t["leaf_weights"][leaf], chosen, -1)
        biases = np.take_along_axis(t["leaf_biases"][leaf], chosen, -1)
        return np.asarray((weights * values[chosen] + biases).sum(-1))

    def _gumbel(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return self._random.gumbel(size=shape)
