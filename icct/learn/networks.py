"""Perceptrons for a whole population: the paper's MLP actors, and the critics of every method.

Weights are (members, ..., inputs, outputs) and start from each member's own generator.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

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
        values = observations
        layers = list(self.layers)  # a slice of a ParameterList is one, which torch.compile cannot
        for weights, biases in zip(layers[:-2:2], layers[1:-2:2], strict=True):
            # Not baddbmm: on a GPU it first writes the biases out; this fuses with the ReLU.
            values = torch.bmm(values, weights).add_(biases).relu_()
        mean, log_std = (torch.bmm(values, layers[-2]) + layers[-1]).chunk(2, dim=-1)
        return mean, log_std.clamp(*LOG_STD_RANGE)


class TwinCritics(nn.Module):
    """Two critics for each seed: (observation, action) → value."""

    def __init__(
        self, hidden: Sequence[int], features: int, actions: int, seeds: Sequence[int]
    ) -> None:
        super().__init__()
        draw = MemberDraws([seed + 1_000_003 for seed in seeds])  # other numbers than the actor's
        self.layers = nn.ParameterList()
        for inputs, outputs in pairwise((features + actions, *hidden, 1)):
            _add_layer(self.layers, draw, (2,), inputs, outputs)

    def forward(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return both values, (members, 2, batch).

        Args:
            observations: (members, batch, features).
            actions: (members, batch, actions).
        """
        return self.values(list(self.layers), observations, actions)

    def of_actions(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return the same values; their gradients reach the actions and no parameter."""
        return self.values([layer.detach() for layer in self.layers], observations, actions)

    def errors(
        self, observations: Tensor, actions: Tensor, targets: Tensor, share: float
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return a share of both values' mean squared error, (members,), and its gradients."""
        distances = self(observations, actions) - targets.unsqueeze(1)
        loss = share * distances.square().mean(-1).sum(-1)
        return loss.detach(), torch.autograd.grad(loss.sum(), list(self.layers))

    def values(self, layers: list[Tensor], observations: Tensor, actions: Tensor) -> Tensor:
        """Return what perceptrons with these layers say; `fast.FastCritics` says it faster."""
        values = torch.cat((observations, actions), dim=-1).unsqueeze(1)
        for weights, biases in zip(layers[:-2:2], layers[1:-2:2], strict=True):
            values = torch.relu(values @ weights + biases)
        return (values @ layers[-2] + layers[-1]).squeeze(-1)


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
