"""A trained perceptron that acts with numpy alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.errors import ObservationError, PolicyError
from icct.policy import Action, Feature
from icct.policy.parts import squash

KIND = "perceptron"


class PerceptronActor:
    """ReLU layers, then the mean of the action, squashed by tanh onto the action's limits."""

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
        sizes = [len(self.features)]
        self._layers: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []
        while f"weight_{len(self._layers)}" in tensors:
            number = len(self._layers)
            weight = tensors[f"weight_{number}"]
            bias = tensors.get(f"bias_{number}", np.zeros(0, np.float32))
            if weight.ndim != 2 or weight.shape[0] != sizes[-1] or bias.shape != weight.shape[1:]:
                raise PolicyError(
                    f"{name}: layer {number} has weights {weight.shape} and biases {bias.shape}, "
                    f"expected ({sizes[-1]}, n) and (n,)."
                )
            sizes.append(weight.shape[1])
            self._layers.append((weight, bias))
        if sizes[-1] != len(self.actions) or len(self._layers) * 2 != len(tensors):
            raise PolicyError(
                f"{name}: the layers end in {sizes[-1]} numbers, expected {len(self.actions)}."
            )

    @property
    def parameter_count(self) -> int:
        """The number of weights and biases."""
        return sum(weight.size + bias.size for weight, bias in self._layers)

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Return the action for one observation, shape (n_actions,)."""
        return squashed(self.means(checked(self.name, observation, self.features)), self.actions)

    def means(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the actions before the tanh, (..., n_features) → (..., n_actions)."""
        values = observations
        for weight, bias in self._layers[:-1]:
            values = np.maximum(values @ weight + bias, 0)
        weight, bias = self._layers[-1]
        return values @ weight + bias


def checked(
    name: str, observation: ArrayLike, features: tuple[Feature, ...]
) -> NDArray[np.float32]:
    """Return an observation as float32, or refuse it."""
    values = np.asarray(observation, dtype=np.float32)
    if values.shape != (len(features),) or not np.isfinite(values).all():
        raise ObservationError(
            f"{name}: the observation has shape {values.shape}, expected ({len(features)},) finite "
            "numbers."
        )
    return values


def squashed(values: NDArray[np.floating], actions: tuple[Action, ...]) -> NDArray[np.float64]:
    """Return controller values squashed by tanh onto the actions' limits."""
    pairs = zip(values.tolist(), actions, strict=True)
    return np.array([squash(value, action, "tanh") for value, action in pairs])
