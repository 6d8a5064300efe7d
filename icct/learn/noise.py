"""Random numbers as a pure function of (member's seed, step, place): no state, nothing shared.

Torch's generators would tie the members of a population together: one draw for all depends on how
many there are. Here each number is a hash of where it is used, so a member draws the same numbers
alone or among others, on the CPU or inside a CUDA graph, and a resumed run needs no stored state.
"""

import math

import torch
from torch import Tensor

# Constants of the splitmix64 generator, as signed 64-bit integers.
_GOLDEN = -0x61C8864680B583EB
_FIRST = -0x40A7B892E31B1A47
_SECOND = -0x6B2FB644ECCEEE15
_BITS = 24  # of a uniform number: what a float32 holds


def places(count: int, device: torch.device | None = None) -> Tensor:
    """Return where `count` numbers of one draw stand; made once, outside compiled code."""
    return (torch.arange(count, device=device) + 1) * _GOLDEN


def hashed(seeds: Tensor, step: Tensor, stream: int, places: Tensor) -> Tensor:
    """Return random 64-bit integers, (members, places).

    Args:
        seeds: (members,), int64.
        step: A single int64, on the device of the seeds.
        stream: Tells apart what is drawn at the same step.
        places: From the function of that name, (places,).
    """
    start = _mixed(_mixed(seeds * _GOLDEN + stream) + step * _GOLDEN)
    return _mixed(start.unsqueeze(-1) + places)


def uniform(bits: Tensor) -> Tensor:
    """Return numbers in (0, 1] from random integers."""
    return ((bits >> (64 - _BITS)) & (2**_BITS - 1)).add(1).to(torch.float32) / 2**_BITS


def normal(bits: Tensor) -> Tensor:
    """Return standard normal numbers from random integers (Box and Muller)."""
    angle = ((bits >> 8) & (2**_BITS - 1)).to(torch.float32) * (2 * math.pi / 2**_BITS)
    return torch.sqrt(-2 * torch.log(uniform(bits))) * torch.cos(angle)


def integers(bits: Tensor, limit: Tensor) -> Tensor:
    """Return integers from 0 to limit - 1 from random integers."""
    return ((bits >> 32) & (2**31 - 1)) % limit


def _mixed(values: Tensor) -> Tensor:
    values = (values ^ ((values >> 30) & (2**34 - 1))) * _FIRST
    values = (values ^ ((values >> 27) & (2**37 - 1))) * _SECOND
    return values ^ ((values >> 31) & (2**33 - 1))
