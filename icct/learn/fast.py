"""What makes the update fast, and changes nothing else: `tests/learn/test_fast.py` compares.

Critics whose gradients are written out, torch.compile, and CUDA graphs. A learner without all
this is ordinary torch (see sac.py), learns the same, and takes longer.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeVar, cast

import torch
import torch._dynamo
from torch import Tensor

from icct.learn.networks import TwinCritics

WARM_UPS = 3  # calls before a capture, in which libraries choose their kernels
PROGRAMS_OF_A_FUNCTION = 64  # else torch stops compiling with the third group of a run
Function = TypeVar("Function", bound=Callable[..., Any])


class Accelerate(Protocol):
    """Makes a function fast, such as torch.compile does, or returns it as it is."""

    def __call__(self, function: Function, /) -> Function:
        """Return a function that does the same."""
        ...


def unchanged(function: Function, /) -> Function:
    """Return a function as it is, where torch.compile would make another one."""
    return function


def compiled(function: Function, /) -> Function:
    """Return a function that torch.compile makes of one; its first call takes long.

    Every shape gets a program of its own: groups of a run differ in theirs, and one program for all
    shapes is slower than many.
    """
    torch._dynamo.config.recompile_limit = PROGRAMS_OF_A_FUNCTION
    return cast("Function", torch.compile(function, dynamic=False))


def accelerator(device: torch.device, compiling: bool) -> Accelerate:
    """Return what makes the functions of an update fast on a device."""
    # The actors' loss and its gradients in one program save a CPU some calls, 5 % of an update. A
    # GPU replays graphs, which make no calls: there the gradients are a program of their own.
    torch._dynamo.config.trace_autograd_ops = compiling and device.type == "cpu"
    return compiled if compiling else unchanged


class FastCritics(TwinCritics):
    """`TwinCritics` with one product for both critics of all members, and gradients written out.

    Autograd keeps more, computes what nobody asks for, and multiplies by single columns, which is
    five times slower on a CPU. Parameters, gradients and values are float32. With `hidden_dtype`
    bfloat16 the products between hidden layers are not, nor what they read and write, which is
    most of the work of an update.
    """

    hidden_dtype = torch.float32

    def values(self, layers: list[Tensor], observations: Tensor, actions: Tensor) -> Tensor:
        """Return what perceptrons with these layers say, (members, 2, batch)."""
        return _traced(layers, observations, actions, self.hidden_dtype)[0]

    @torch.no_grad()
    def errors(
        self, observations: Tensor, actions: Tensor, targets: Tensor, share: float
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return a share of both values' mean squared error, (members,), and its gradients."""
        layers = list(self.layers)
        values, entering = _traced(layers, observations, actions, self.hidden_dtype)
        distances = values - targets.unsqueeze(1)
        loss = share * distances.square().mean(-1).sum(-1)
        slopes = 2 * share * distances / distances.shape[-1]
        leaving = _leaving(entering, layers, slopes)
        return loss, _parameter_gradients(entering, leaving, layers)

    def of_actions(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return both values; their gradients reach the actions and no parameter.

        The derivatives are found at once: zeros that have them are added to the values. A compiled
        program then has one part, and not a forward and a backward one.
        """
        with torch.no_grad():
            layers = [layer.detach() for layer in self.layers]
            values, entering = _traced(layers, observations, actions, self.hidden_dtype)
            leaving = _leaving(entering, layers, torch.ones_like(values))
            slopes = _action_slopes(leaving[0], layers[0], actions.shape[-1])
        return values + (slopes * (actions - actions.detach()).unsqueeze(1)).sum(-1)


def _traced(
    layers: Sequence[Tensor], observations: Tensor, actions: Tensor, dtype: torch.dtype
) -> tuple[Tensor, list[Tensor]]:
    """Return both values, (members, 2, batch), and what enters each layer."""
    inputs = torch.cat((observations, actions), dim=-1)
    members, batch, size = inputs.shape
    flat = [layer.flatten(0, 1) for layer in layers]  # two critics, two entries of a product
    entering = [inputs.unsqueeze(1).expand(members, 2, batch, size).reshape(-1, batch, size)]
    for weights, biases in zip(flat[:-2:2], flat[1:-2:2], strict=True):
        values = entering[-1]
        # Not baddbmm: on a GPU it first writes the biases out; this fuses with the ReLU.
        product = torch.bmm(values, weights.to(values.dtype))
        entering.append(product.add_(biases).relu_().to(dtype))
    # A product with one column is five times slower on a CPU.
    last = (entering[-1] * flat[-2].mT).sum(-1, keepdim=True) + flat[-1]
    return last.reshape(members, 2, batch), entering


def _leaving(entering: Sequence[Tensor], layers: Sequence[Tensor], slopes: Tensor) -> list[Tensor]:
    """Return the derivative of a loss in what leaves each layer before its ReLU.

    Args:
        entering: From `_traced`.
        layers: Weights and biases in turn.
        slopes: The derivative in each value, (members, 2, batch).
    """
    weights = [layer.flatten(0, 1) for layer in layers[::2]]
    found = [slopes.flatten(0, 1).unsqueeze(-1)]  # the last layer first
    for values, weight in zip(entering[:0:-1], weights[:0:-1], strict=True):
        if weight.shape[-1] == 1:
            product = (found[-1] * weight.mT).to(values.dtype)
        else:
            product = torch.bmm(found[-1], weight.to(values.dtype).mT)
        found.append(torch.ops.aten.threshold_backward(product, values, 0))
    return found[::-1]


def _action_slopes(leaving: Tensor, weights: Tensor, actions: int) -> Tensor:
    """Return the derivative in the actions by each critic, (members, 2, batch, actions)."""
    own = weights.flatten(0, 1)[:, -actions:]
    return torch.bmm(leaving.float(), own.mT).unflatten(0, (-1, 2))


def _parameter_gradients(
    entering: Sequence[Tensor], leaving: Sequence[Tensor], layers: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    found: list[Tensor] = []
    for values, slope in zip(entering, leaving, strict=True):
        if slope.shape[-1] == 1:  # here too: not a product with one column
            found.append((values * slope).sum(1))
        else:
            found.append(torch.bmm(values.mT, slope.to(values.dtype)))
        found.append(slope.sum(1, dtype=torch.float32))
    return tuple(
        part.float().reshape(layer.shape) for part, layer in zip(found, layers, strict=True)
    )


class Programs:
    """Runs functions over fixed tensors: on a CPU by calling them, on a GPU as CUDA graphs.

    Args:
        device: Where the tensors are.
        changed: Returns the tensors that functions change; a capture puts them back.
    """

    def __init__(self, device: torch.device, changed: Callable[[], list[Tensor]]) -> None:
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        # To wait for it sleeping: a stream is waited for by spinning, which takes a core from the
        # environments of every run that shares the machine.
        self._reached = torch.cuda.Event(blocking=True) if device.type == "cuda" else None
        self._changed = changed
        self._graphs: dict[Hashable, torch.cuda.CUDAGraph] = {}

    def run(self, function: Callable[..., None], *arguments: Hashable) -> None:
        """Call a function, or replay the graph captured at its first call with these arguments."""
        if self.stream is None:
            function(*arguments)
            return
        torch.cuda.set_stream(self.stream)
        name = function.__name__, arguments
        if name not in self._graphs:
            self._graphs[name] = self._captured(function, arguments)
        self._graphs[name].replay()

    def synchronize(self) -> None:
        """Wait until everything that was run is done."""
        if self._reached is not None:
            self._reached.record(self.stream)
            self._reached.synchronize()

    def _captured(
        self, function: Callable[..., None], arguments: tuple[Hashable, ...]
    ) -> torch.cuda.CUDAGraph:
        kept = [(tensor, tensor.clone()) for tensor in self._changed()]
        for _ in range(WARM_UPS):
            function(*arguments)
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=self.stream):
            function(*arguments)
        for tensor, before in kept:
            tensor.copy_(before)
        torch.cuda.synchronize()
        return graph
