"""Critics of two hidden layers whose passes are one GPU kernel each, written in Triton.

torch writes out what enters and leaves every layer of `FastCritics`, some 90 kB for each row of a
batch, and launches forty kernels. Here a block keeps its rows on the chip from the observations to
the value, and back. What the gradients of the weights need is written once; these are ordinary
products. `tests/learn/test_fused.py` compares the two; docs/training.md says what it gains.

No torch.compile looks inside: to torch these are three operations with names. A module of its own,
as Triton is there only beside a torch for CUDA.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, library

from icct.learn.fast import FastCritics
from icct.learn.kernels import error_kernel, slope_kernel, value_kernel


class Tile(NamedTuple):
    """How a kernel divides its work."""

    rows: int  # of a batch, for each block
    chunk: int  # units of a hidden layer at a time
    warps: int
    stages: int


# The fastest on an H200 of those that benchmarks/fused_critics.py tries.
VALUE_TILE = Tile(64, 32, 8, 2)
SLOPE_TILE = Tile(64, 32, 8, 2)
ERROR_TILE = Tile(64, 32, 8, 2)
HIDDEN = (16, 32, 64, 128, 256)
INPUTS = 128  # at most: with these and the largest layers a block needs 205 kB of its own
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
        inputs = torch.cat((observations, actions), dim=-1)
        return critic_values(inputs, [layer.detach() for layer in layers])

    @torch.no_grad()
    def errors(
        self, observations: Tensor, actions: Tensor, targets: Tensor, share: float
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return a share of both values' mean squared error, (members,), and its gradients."""
        inputs = torch.cat((observations, actions), dim=-1)
        scale = share / inputs.shape[1]
        first, leaving_second, leaving_first, sums = critic_errors(
            inputs, targets, list(self.layers), scale
        )
        hidden = first.shape[-1]
        totals = sums.sum(2, keepdim=True)  # over the blocks of a batch
        of_last, of_second, of_first, rest = totals.split((hidden, hidden, hidden, 2), dim=-1)
        gradients = (
            inputs.mT.unsqueeze(1) @ leaving_first,
            of_first,
            first.mT @ leaving_second,
            of_second,
            of_last.mT,
            rest[..., :1],
        )
        return rest[..., 1].sum((1, 2)), gradients

    def of_actions(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return both values; their gradients reach the actions and no parameter."""
        with torch.no_grad():
            inputs = torch.cat((observations, actions.detach()), dim=-1)
            values, slopes = critic_slopes(
                inputs, [layer.detach() for layer in self.layers], actions.shape[-1]
            )
        return values + (slopes * (actions - actions.detach()).unsqueeze(1)).sum(-1)


# -- the operations, as torch sees them ---------------------------------------------------------


@library.custom_op("icct::critic_values", mutates_args=())
def critic_values(inputs: Tensor, layers: list[Tensor]) -> Tensor:
    """Return both values of every row, (members, 2, batch)."""
    values = inputs.new_empty(_shape(inputs, layers)[:3])
    _launch(value_kernel, VALUE_TILE, inputs, layers, (values,))
    return values


@critic_values.register_fake
def _(inputs: Tensor, layers: list[Tensor]) -> Tensor:
    return inputs.new_empty(_shape(inputs, layers)[:3])


@library.custom_op("icct::critic_slopes", mutates_args=())
def critic_slopes(inputs: Tensor, layers: list[Tensor], actions: int) -> tuple[Tensor, Tensor]:
    """Return both values, and their derivatives in the actions, (members, 2, batch, actions)."""
    values = inputs.new_empty(_shape(inputs, layers)[:3])
    slopes = inputs.new_empty((*values.shape, actions))
    _launch(slope_kernel, SLOPE_TILE, inputs, layers, (values, slopes), actions)
    return values, slopes


@critic_slopes.register_fake
def _(inputs: Tensor, layers: list[Tensor], actions: int) -> tuple[Tensor, Tensor]:
    values = inputs.new_empty(_shape(inputs, layers)[:3])
    return values, inputs.new_empty((*values.shape, actions))


@library.custom_op("icct::critic_errors", mutates_args=())
def critic_errors(
    inputs: Tensor, targets: Tensor, layers: list[Tensor], scale: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return what the gradients of scale times the sum of squared errors are made of.

    Returns:
        What enters the second layer, and the derivatives in what leaves the second and the first
        before their ReLU, each (members, 2, batch, hidden). Then sums over the rows of each block,
        (members, 2, blocks, 3 hidden + 2): the gradients of the last weights, of the second and of
        the first biases, of the last bias, and the loss.
    """
    first, second, leaving, sums = _for_gradients(inputs, layers)
    outputs = (first, second, leaving, sums, targets.contiguous())
    _launch(error_kernel, ERROR_TILE, inputs, layers, outputs, scale, sums.shape[3])
    return first, second, leaving, sums


@critic_errors.register_fake
def _(
    inputs: Tensor, targets: Tensor, layers: list[Tensor], scale: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return _for_gradients(inputs, layers)


def _for_gradients(inputs: Tensor, layers: list[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    members, two, batch, hidden = _shape(inputs, layers)
    first, second, leaving = (inputs.new_empty((members, two, batch, hidden)) for _ in range(3))
    blocks = -(-batch // ERROR_TILE.rows)
    return first, second, leaving, inputs.new_empty((members, two, blocks, 3 * hidden + 2))


def _shape(inputs: Tensor, layers: list[Tensor]) -> tuple[int, int, int, int]:
    return inputs.shape[0], 2, inputs.shape[1], layers[0].shape[-1]


def _launch(
    kernel: Any,
    tile: Tile,
    inputs: Tensor,
    layers: list[Tensor],
    others: tuple[Tensor, ...],
    *numbers: float,
) -> None:
    members, two, batch, hidden = _shape(inputs, layers)
    size = inputs.shape[2]
    kernel[-(-batch // tile.rows), two * members](
        inputs.contiguous(),
        *(layer.contiguous() for layer in layers),
        *others,
        batch,
        size,
        *numbers,
        ROWS=tile.rows,
        SIZE=max(16, 1 << (size - 1).bit_length()),
        HIDDEN=hidden,
        CHUNK=min(tile.chunk, hidden),
        PRECISION="ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32",
        num_warps=tile.warps,
        num_stages=tile.stages,
    )
