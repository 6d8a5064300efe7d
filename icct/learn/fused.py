"""Critics of two hidden layers whose passes are one GPU kernel each, written in Triton.

torch writes out what leaves every layer of `FastCritics`, reads it to add biases, writes it, and
reads it for the next layer. Here a block keeps its rows on the chip from the observations to the
value, and on the way back; what the gradients of the weights need is written once, and they are
ordinary products. `tests/learn/test_fused.py` compares the two.

No torch.compile looks inside: to torch these are three operations with names. A module of its own,
as Triton is there only beside a torch for CUDA.
"""

from typing import NamedTuple

import torch
from torch import Tensor, library
from torch.nn.functional import pad

from icct.learn.fast import FastCritics
from icct.learn.kernels import backward_kernel, forward_kernel


class Tile(NamedTuple):
    """How a kernel divides its work."""

    rows: int  # of a batch, for each block
    chunk: int  # units of a hidden layer at a time
    warps: int
    stages: int


# The fastest on an H200 of those that benchmarks/fused_critics.py tries.
FORWARD_TILE = Tile(128, 32, 8, 2)
BACKWARD_TILE = Tile(128, 32, 8, 2)
HIDDEN = (16, 32, 64, 128, 256)
INPUTS = 128  # at most: with these and the largest layers a block needs 180 kB of its own
GPUS = (9, 10)  # compute capabilities whose blocks can have that: H100, H200, B200


def fits(hidden: tuple[int, ...], inputs: int, device: torch.device) -> bool:
    """Return whether a device can compute critics with these hidden layers here."""
    if len(hidden) != 2 or hidden[0] != hidden[1] or hidden[0] not in HIDDEN or inputs > INPUTS:
        return False
    return torch.cuda.get_device_capability(device)[0] in GPUS


class FusedCritics(FastCritics):
    """`FastCritics` in three kernels."""

    def values(self, layers: list[Tensor], observations: Tensor, actions: Tensor) -> Tensor:
        """Return what perceptrons with these layers say, (members, 2, batch)."""
        inputs = _joined(observations, actions)
        return critic_values(inputs, _laid_out([layer.detach() for layer in layers], inputs))

    @torch.no_grad()
    def errors(
        self, observations: Tensor, actions: Tensor, targets: Tensor, share: float
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return a share of both values' mean squared error, (members,), and its gradients."""
        inputs, layers = _joined(observations, actions), list(self.layers)
        values, first, second = critic_trace(inputs, _laid_out(layers, inputs))
        distances = values - targets.unsqueeze(1)
        loss = share * distances.square().mean(-1).sum(-1)
        slopes = 2 * share * distances / distances.shape[-1]
        leaving_first, leaving_second = critic_back(slopes, layers[2], layers[4], first, second)
        gradients = (
            (inputs.mT.unsqueeze(1) @ leaving_first)[:, :, : layers[0].shape[2]],
            leaving_first.sum(2, keepdim=True),
            first.mT @ leaving_second,
            leaving_second.sum(2, keepdim=True),
            (second * slopes.unsqueeze(-1)).sum(2).unsqueeze(-1),
            slopes.sum(2)[..., None, None],
        )
        return loss, gradients

    def of_actions(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return both values; their gradients reach the actions and no parameter."""
        with torch.no_grad():
            inputs = _joined(observations, actions.detach())
            layers = [layer.detach() for layer in self.layers]
            values, first, second = critic_trace(inputs, _laid_out(layers, inputs))
            ones = torch.ones_like(values)
            leaving, _ = critic_back(ones, layers[2], layers[4], first, second)
            slopes = leaving @ layers[0][:, :, -actions.shape[-1] :].mT
        return values + (slopes * (actions - actions.detach()).unsqueeze(1)).sum(-1)


def _joined(observations: Tensor, actions: Tensor) -> Tensor:
    """Return the inputs of the critics, with zeros behind them up to a power of two."""
    size = observations.shape[-1] + actions.shape[-1]
    whole = max(16, 1 << (size - 1).bit_length())
    return pad(torch.cat((observations, actions), dim=-1), (0, whole - size))


def _laid_out(layers: list[Tensor], inputs: Tensor) -> list[Tensor]:
    """Return layers as the forward kernel reads them: (outputs, inputs), zeros behind the first."""
    first = pad(layers[0].mT, (0, inputs.shape[-1] - layers[0].shape[2]))
    return [first.contiguous(), layers[1], layers[2].mT.contiguous(), *layers[3:]]


# -- the operations, as torch sees them ---------------------------------------------------------


@library.custom_op("icct::critic_values", mutates_args=())
def critic_values(inputs: Tensor, layers: list[Tensor]) -> Tensor:
    """Return both values of every row, (members, 2, batch)."""
    values = _values(inputs)
    _forward(inputs, layers, values, values, values, keep=False)
    return values


@library.custom_op("icct::critic_trace", mutates_args=())
def critic_trace(inputs: Tensor, layers: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return both values, and what enters the second and the last layer, (..., hidden)."""
    values, hidden = _values(inputs), layers[2].shape[-1]
    first, second = (values.new_empty((*values.shape, hidden)) for _ in range(2))
    _forward(inputs, layers, values, first, second, keep=True)
    return values, first, second


@library.custom_op("icct::critic_back", mutates_args=())
def critic_back(
    slopes: Tensor, w2: Tensor, w3: Tensor, first: Tensor, second: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the derivatives in what leaves the first and the second layer before their ReLU.

    Args:
        slopes: The derivative in each value, (members, 2, batch).
        w2: Weights of the second layer, (members, 2, hidden, hidden).
        w3: Weights of the last layer, (members, 2, hidden, 1).
        first: What enters the second layer, (members, 2, batch, hidden).
        second: What enters the last layer, likewise.
    """
    leaving_first, leaving_second = torch.empty_like(first), torch.empty_like(second)
    members, two, batch, hidden = first.shape
    tile = BACKWARD_TILE
    backward_kernel[-(-batch // tile.rows), two * members](
        slopes.contiguous(), w2.contiguous(), w3.contiguous(), first, second,
        leaving_first, leaving_second, batch,
        ROWS=tile.rows, HIDDEN=hidden, CHUNK=min(tile.chunk, hidden), PRECISION=_precision(),
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip
    return leaving_first, leaving_second


def _forward(
    inputs: Tensor, layers: list[Tensor], values: Tensor, first: Tensor, second: Tensor, keep: bool
) -> None:
    members, batch, size = inputs.shape
    hidden, tile = layers[2].shape[-1], FORWARD_TILE
    forward_kernel[-(-batch // tile.rows), 2 * members](
        inputs.contiguous(), *(layer.contiguous() for layer in layers), values, first, second,
        batch, KEEP=keep, ROWS=tile.rows, SIZE=size, HIDDEN=hidden,
        CHUNK=min(tile.chunk, hidden), PRECISION=_precision(),
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip


def _values(inputs: Tensor) -> Tensor:
    return inputs.new_empty((inputs.shape[0], 2, inputs.shape[1]))


def _precision() -> str:
    return "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"


@critic_values.register_fake
def _(inputs: Tensor, layers: list[Tensor]) -> Tensor:
    return _values(inputs)


@critic_trace.register_fake
def _(inputs: Tensor, layers: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    values = _values(inputs)
    shape = (*values.shape, layers[2].shape[-1])
    return values, values.new_empty(shape), values.new_empty(shape)


@critic_back.register_fake
def _(
    slopes: Tensor, w2: Tensor, w3: Tensor, first: Tensor, second: Tensor
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(first), torch.empty_like(second)
