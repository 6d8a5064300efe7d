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
        mean, log_std = _perceptron(self.layers, observations)[0].chunk(2, dim=-1)
        return mean, log_std.clamp(*LOG_STD_RANGE)


class TwinCritics(nn.Module):
    """Two critics for each seed: (observation, action) → value.

    Parameters, gradients and values are float32. With `hidden_dtype` bfloat16 the products between
    hidden layers are not, nor what they read and write, which is most of the work of an update.
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

    def forward(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return both values, (members, 2, batch).

        Args:
            observations: (members, batch, features).
            actions: (members, batch, actions).
        """
        return self.trace(observations, actions)[0]

    def trace(self, observations: Tensor, actions: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return both values, (members, 2, batch), and what entered each layer."""
        inputs = torch.cat((observations, actions), dim=-1)
        members, batch, size = inputs.shape
        twice = inputs.unsqueeze(1).expand(members, 2, batch, size).reshape(-1, batch, size)
        values, entered = _perceptron(self._flat_layers(), twice, self.hidden_dtype)
        return values.reshape(members, 2, batch), entered

    # The gradients are written out: autograd keeps more, computes what nobody asks for, and splits
    # a compiled program in two, with the mask of every ReLU stored in between.

    def gradients(self, entered: list[Tensor], slopes: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients of all parameters.

        Args:
            entered: From `trace`.
            slopes: The derivative of the loss in each value, (members, 2, batch).
        """
        found: list[Tensor] = []
        for values, slope in zip(entered, self._slopes(entered, slopes), strict=True):
            if slope.shape[-1] == 1:  # here too: not a product with one column
                found.append((values * slope).sum(1))
            else:
                found.append(torch.bmm(values.mT, slope.to(values.dtype)))
            found.append(slope.sum(1, dtype=torch.float32))
        return tuple(
            gradient.float().reshape(layer.shape)
            for gradient, layer in zip(found, self.layers, strict=True)
        )

    def lowest(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return the lower value, (members, batch); its gradients reach the actions alone."""
        with torch.no_grad():
            values, entered = self.trace(observations, actions)
            second_is_lower = values[:, 1] < values[:, 0]
            chosen = torch.stack((~second_is_lower, second_is_lower), dim=1).to(values.dtype)
            slope = self._action_slopes(entered, chosen, actions)
        return values.amin(1) + _nothing_with_slope(actions, slope)

    def first(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return the first value, (members, batch); its gradients reach the actions alone."""
        with torch.no_grad():
            values, entered = self.trace(observations, actions)
            chosen = torch.zeros_like(values)
            chosen[:, 0] = 1
            slope = self._action_slopes(entered, chosen, actions)
        return values[:, 0] + _nothing_with_slope(actions, slope)

    def _action_slopes(self, entered: list[Tensor], slopes: Tensor, actions: Tensor) -> Tensor:
        """Return the derivative in the actions, (members, batch, actions)."""
        weights = self._flat_layers()[0][:, -actions.shape[-1] :]
        twice = torch.bmm(self._slopes(entered, slopes)[0].float(), weights.mT)
        return twice.unflatten(0, (-1, 2)).sum(1)

    def _slopes(self, entered: list[Tensor], slopes: Tensor) -> list[Tensor]:
        """Return the derivative of the loss in what leaves each layer, before its ReLU."""
        found = [slopes.flatten(0, 1).unsqueeze(-1)]
        weights = self._flat_layers()[::2]
        for values, weight in zip(entered[:0:-1], weights[:0:-1], strict=True):
            if weight.shape[-1] == 1:
                product = (found[0] * weight.mT).to(values.dtype)
            else:
                product = torch.bmm(found[0], weight.to(values.dtype).mT)
            found.insert(0, torch.ops.aten.threshold_backward(product, values, 0))
        return found

    def _flat_layers(self) -> list[Tensor]:
        """Return the layers with the two critics of a member as two entries of one product."""
        return [layer.detach().flatten(0, 1) for layer in self.layers]


def _nothing_with_slope(actions: Tensor, slope: Tensor) -> Tensor:
    """Return zeros whose derivative in the actions is a known one, (members, batch)."""
    return (slope * (actions - actions.detach())).sum(-1)


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
    layers: Sequence[Tensor], inputs: Tensor, hidden_dtype: torch.dtype = torch.float32
) -> tuple[Tensor, list[Tensor]]:
    """Return what leaves the last layer, and what entered each one."""
    entered = [inputs]
    pairs = list(layers)  # a slice of a ParameterList is another one, which torch.compile cannot
    *hidden, (weights, biases) = zip(pairs[::2], pairs[1::2], strict=True)
    for inner_weights, inner_biases in hidden:
        values = entered[-1]
        # Not baddbmm: on a GPU it first writes the biases out; this fuses with the ReLU.
        product = torch.bmm(values, inner_weights.to(values.dtype))
        entered.append(product.add_(inner_biases).relu_().to(hidden_dtype))
    values = entered[-1]
    if weights.shape[-1] == 1:  # a product with one column is five times slower on a CPU
        return (values * weights.mT).sum(-1, keepdim=True) + biases, entered
    return torch.bmm(values, weights) + biases, entered
