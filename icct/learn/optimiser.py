"""torch's Adam for a population: a learning rate for each member, rates that fall over a run.

Where all members share a learning rate, one call moves whole parameters, (members, ...); else each
member has a call of its own. It is a call of the function behind torch.optim.Adam: the class around
that takes four times as long on a CPU as all the numbers it moves here.

On a GPU, where that is asked for, the calls are compiled: torch's fused kernels give a block 65,536
numbers, so that a population of five has work for a dozen blocks of a GPU that runs hundreds.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.optim.adam import adam

from icct.learn.fast import Accelerate, unchanged


class Adam:
    """The optimiser of some parameters of all members, with the usual constants."""

    def __init__(
        self,
        parameters: Sequence[Tensor],
        rates: Sequence[float],
        accelerate: Accelerate = unchanged,
        *,
        falling: bool = False,
    ) -> None:
        self.parameters = list(parameters)
        self.rates = list(rates) if len(set(rates)) > 1 else [rates[0]]
        device = self.parameters[0].device
        self.ones = torch.ones(len(self.parameters[0]), device=device)  # for each member's loss
        self.means = [torch.zeros_like(p).detach() for p in self.parameters]
        self.squares = [torch.zeros_like(p).detach() for p in self.parameters]
        self.counts = [[torch.zeros((), device=device) for _ in parameters] for _ in self.rates]
        # A CUDA graph reads a rate that changes from the device.
        on_gpu = device.type == "cuda"
        changing = falling and on_gpu
        self.now = [torch.tensor(r, device=device) if changing else r for r in self.rates]
        self._move = accelerate(_move) if on_gpu else _move

    def gradients(self, loss: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients of the sum of a loss, (members,), in the parameters."""
        # A tree's log_std takes no part in the deterministic action of TD3.
        return torch.autograd.grad(
            loss, self.parameters, self.ones, allow_unused=True, materialize_grads=True
        )

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Move the parameters against their gradients."""
        for number, rate in enumerate(self.now):
            self._move(
                self._own(self.parameters, number),
                [part.contiguous() for part in self._own(gradients, number)],
                self._own(self.means, number),
                self._own(self.squares, number),
                self.counts[number],
                rate,
            )

    def set_share(self, share: Tensor) -> None:
        """Let a share of the learning rates, a single number, count from now on."""
        for number, rate in enumerate(self.rates):
            now = self.now[number]
            if isinstance(now, Tensor):
                now.copy_(rate * share)
            else:
                self.now[number] = rate * share.item()

    def state(self, name: str) -> dict[str, Tensor]:
        """Return the parameters and the optimiser's memory of them, under a name."""
        parts = {"value": self.parameters, "mean": self.means, "square": self.squares}
        parts |= {f"count-{number}": counts for number, counts in enumerate(self.counts)}
        return {
            f"{name}.{index}.{key}": tensor.detach()
            for key, tensors in parts.items()
            for index, tensor in enumerate(tensors)
        }

    def _own(self, tensors: Sequence[Tensor], number: int) -> list[Tensor]:
        """Return what one call moves: everything, or the part of one member."""
        if len(self.rates) == 1:
            return list(tensors)
        return [tensor[number : number + 1] for tensor in tensors]


@torch.no_grad()
def _move(
    parameters: list[Tensor],
    gradients: list[Tensor],
    means: list[Tensor],
    squares: list[Tensor],
    counts: list[Tensor],
    rate: Tensor | float,
) -> None:
    """Do one step of Adam in place: by torch's fused kernel, or with one that is compiled."""
    compiling = torch.compiler.is_compiling()
    adam(
        parameters,
        gradients,
        means,
        squares,
        [],
        counts,
        foreach=compiling,
        fused=not compiling,
        capturable=compiling or parameters[0].device.type == "cuda",
        amsgrad=False,
        beta1=0.9,
        beta2=0.999,
        lr=rate,
        weight_decay=0.0,
        eps=1e-8,
        maximize=False,
    )


def follow(targets: Sequence[Tensor], sources: Sequence[Tensor], tau: Sequence[float]) -> None:
    """Move target parameters towards their sources by a share for each member."""
    with torch.no_grad():
        if len(set(tau)) == 1:
            torch._foreach_lerp_(list(targets), list(sources), tau[0])
            return
        for target, source in zip(targets, sources, strict=True):
            for member, share in enumerate(tau):
                target[member].lerp_(source[member], share)
