"""Perceptrons for a whole population: the paper's MLP actors, and the critics of every method.

Weights are (members, ..., inputs, outputs) and start from each member's own generator.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from icct.learn.crisp import LOG_STD_RANGE
from icct.learn.module import MemberDraws, uniform


class MlpModule(nn.Module):
    """Perceptron actors with ReLU, one for each seed; the interface of `TreeModule`."""

    def __init__(
        self, hidden: Sequence[int], features: int, actions: int, seeds: Sequence[int] = (0,)
    ) -> None:
        super().__init__()
        self.hidden, self.features, self.actions = tuple(hidden), features, actions
        self.seeds = tuple(seeds)
        draw = MemberDraws(seeds)
        sizes = (features, *hidden)
        self.layers = nn.ParameterList()
        for inputs, outputs in [*pairwise(sizes), (sizes[-1], 2 * actions)]:
            _add_layer(self.layers, draw, (), inputs, outputs)

    @property
    def members(self) -> int:
        """The number of perceptrons."""
        return len(self.seeds)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log standard deviation of the action before squashing."""
        mean, log_std = _perceptron(self.layers, observations).chunk(2, dim=-1)
        return mean, log_std.clamp(*LOG_STD_RANGE)


class TwinCritics(nn.Module):
    """Two critics for each seed: (observation, action) → value.

    Parameters, gradients and values are float32. With `hidden_dtype` bfloat16 the products of the
    hidden layers are not, which on CPUs and GPUs made for it about halves the time of an update.
    """

    def __init__(
        self,
        hidden: Sequence[int],
        features: int,
        actions: int,
        seeds: Sequence[int],
        hidden_dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.hidden_dtype = hidden_dtype
        draw = MemberDraws([seed + 1_000_003 for seed in seeds])  # other numbers than the actor's
        sizes = (features + actions, *hidden, 1)
        self.layers = nn.ParameterList()
        for inputs, outputs in pairwise(sizes):
            _add_layer(self.layers, draw, (2,), inputs, outputs)

    def forward(self, observations: Tensor, actions: Tensor, frozen: bool = False) -> Tensor:
        """Return both values, (members, 2, batch).

        Args:
            observations: (members, batch, features).
            actions: (members, batch, actions).
            frozen: Whether gradients stop at the weights; they still reach the actions.
        """
        inputs = torch.cat((observations, actions), dim=-1)
        members, batch, size = inputs.shape
        twice = inputs.unsqueeze(1).expand(members, 2, batch, size).reshape(-1, batch, size)
        layers = [
            (layer.detach() if frozen else layer).flatten(0, 1) for layer in self.layers
        ]  # two critics of a member are two entries of one batched product
        return _perceptron(layers, twice, self.hidden_dtype).reshape(members, 2, batch)


def _add_layer(
    layers: nn.ParameterList,
    draw: MemberDraws,
    copies: tuple[int, ...],
    inputs: int,
    outputs: int,
) -> None:
    """Append weights and biases, started as torch.nn.Linear starts them."""
    bound = inputs**-0.5
    layers.append(draw(lambda g: uniform((*copies, inputs, outputs), bound, g)))
    layers.append(draw(lambda g: uniform((*copies, 1, outputs), bound, g)))


def _perceptron(
    layers: Sequence[Tensor], values: Tensor, hidden_dtype: torch.dtype = torch.float32
) -> Tensor:
    *hidden, (weights, biases) = zip(layers[::2], layers[1::2], strict=True)
    for inner_weights, inner_biases in hidden:
        # Not baddbmm: on a GPU it first writes the biases out; this fuses with the ReLU.
        product = torch.bmm(values.to(hidden_dtype), inner_weights.to(hidden_dtype))
        values = functional.relu(product + inner_biases.to(hidden_dtype))
    values = values.float()
    if weights.shape[-1] == 1:  # a product with one column is five times slower on a CPU
        return (values * weights.mT).sum(-1, keepdim=True) + biases
    return torch.bmm(values, weights) + biases
