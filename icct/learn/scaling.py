"""Observations scaled inside training, by fixed statistics of the first random steps.

A gap in metres and an angle in radians become numbers of about the same size, which is what
networks and thresholds learn well on. Gains are powers of two, so that scaling rounds only once and
rises with the feature: `freeze` folds it back into thresholds and weights, and a policy takes raw
observations. Until the statistics are taken the scaling changes nothing.
"""

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from icct.learn.module import TreeModule

Array = NDArray[np.float64]

SMALLEST_SPREAD = 1e-6  # a feature that moves less is left as it is
QUARTILES = 0.25, 0.75  # between which a threshold starts, of the values that reach its node


class Rescaling(Protocol):
    """A change of each feature alone that rises with it; `freeze` takes it back."""

    def __call__(self, observations: Tensor) -> Tensor:
        """Return what the module sees, (members, batch, features)."""
        ...

    def member(self, member: int) -> tuple[Array, Array]:
        """Return what is subtracted from each feature, and what it is then multiplied by."""
        ...


class Scaling:
    """What is subtracted from each feature, and what it is then multiplied by, for each member."""

    def __init__(self, members: int, features: int, device: torch.device | None = None) -> None:
        self.shift = torch.zeros(members, features, device=device)
        self.gain = torch.ones(members, features, device=device)

    def __call__(self, observations: Tensor) -> Tensor:
        """Return scaled observations, (members, features) or (members, batch, features)."""
        if observations.dim() == 3:
            return (observations - self.shift.unsqueeze(1)) * self.gain.unsqueeze(1)
        return (observations - self.shift) * self.gain

    def fit(self, observations: Tensor) -> None:
        """Take the statistics of raw observations, (members, batch, features)."""
        spread = observations.std(1)
        moves = spread > SMALLEST_SPREAD
        gain = torch.exp2(torch.round(-torch.log2(spread.clamp_min(SMALLEST_SPREAD))))
        self.shift.copy_(torch.where(moves, observations.mean(1), 0.0))
        self.gain.copy_(torch.where(moves, gain, 1.0))

    def member(self, member: int) -> tuple[Array, Array]:
        """Return shift and gain of one member, exactly."""
        return _array(self.shift[member]), _array(self.gain[member])

    def on_cpu(self) -> "Scaling":
        """Return a copy in the memory of the host."""
        copy = Scaling(*self.shift.shape)
        copy.shift.copy_(self.shift)
        copy.gain.copy_(self.gain)
        return copy


def folded(weights: Array, scaling: Rescaling, member: int) -> tuple[Array, Array]:
    """Return weights for raw observations, and what they make too much.

    weights · scaled observation = folded weights · raw observation - excess, over the last axis.
    """
    shift, gain = scaling.member(member)
    return weights * gain, (weights * gain * shift).sum(-1)


def start_thresholds(module: TreeModule, observations: Tensor) -> None:
    """Move each node's threshold to a value between the quartiles of what reaches the node.

    The node keeps the feature that its weights chose. So every leaf is reached at the start.

    Args:
        module: Trees at their start; only their biases change.
        observations: What was observed, as the module sees it, (members, batch, features).
    """
    nodes = module.config.leaves - 1
    for member, seed in enumerate(module.seeds):
        draw = np.random.default_rng((0x5917, seed))
        table, weights = _array(observations[member]), _array(module.node_weights[member])
        sharpness = np.broadcast_to(_array(module.sharpness[member]), nodes)
        reaching = [table] + [table[:0]] * (2 * nodes)
        for node in range(nodes):
            rows = reaching[node]
            feature = int(np.abs(weights[node]).argmax())
            threshold = _between_quartiles((rows if len(rows) else table)[:, feature], draw)
            weight = weights[node, feature]
            with torch.no_grad():
                module.node_biases[member, node] = float(weight * threshold)
            true = sharpness[node] * weight * (rows[:, feature] - threshold) > 0
            reaching[2 * node + 1], reaching[2 * node + 2] = rows[true], rows[~true]


def _between_quartiles(values: Array, draw: np.random.Generator) -> float:
    """Return one of the values between the quartiles that has some below and some above it."""
    ordered = np.sort(values)
    below_top = ordered[ordered < ordered[-1]]  # nothing exceeds the largest
    if len(below_top) == 0:
        return float(ordered[-1])
    low, high = (int(share * (len(below_top) - 1)) for share in QUARTILES)
    if below_top[low] == below_top[high]:  # such as a speed that is mostly 0
        below_top = np.unique(below_top)
        low, high = (int(share * (len(below_top) - 1)) for share in QUARTILES)
    return float(below_top[draw.integers(low, high + 1)])


def _array(tensor: Tensor) -> Array:
    return tensor.detach().cpu().double().numpy()
