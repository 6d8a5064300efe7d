"""One ring of transitions for each member, on the training device.

A transition is one row (observation, next observation, action, reward, done), so that storing and
sampling are one copy and one gather. All members store at the same place.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from icct.learn.noise import below


class Batch(NamedTuple):
    """Transitions of every member, each (members, batch, ...)."""

    observations: Tensor
    next_observations: Tensor
    actions: Tensor  # in [-1, 1]
    rewards: Tensor  # (members, batch)
    dones: Tensor  # (members, batch), 1 where nothing follows


class Replay:
    """The rings."""

    def __init__(
        self,
        members: int,
        capacity: int,
        features: int,
        actions: int,
        device: torch.device,
    ) -> None:
        self.sizes = (features, features, actions, 1, 1)
        self.rows = torch.zeros(members, capacity, sum(self.sizes), device=device)
        self.members = torch.arange(members, device=device).unsqueeze(-1)
        self.stored = torch.zeros((), dtype=torch.int64, device=device)  # since the start

    def store(self, rows: Tensor) -> None:
        """Keep one transition of each member, (members, sum of sizes), over the oldest."""
        place = (self.stored % self.rows.shape[1]).reshape(1)
        self.rows.index_copy_(1, place, rows.unsqueeze(1))
        self.stored += 1

    def recent(self, count: int) -> Tensor:
        """Return the latest observations, at most `count`, (members, count, features)."""
        stored = int(self.stored.item())
        places = torch.arange(max(0, stored - count), stored, device=self.rows.device)
        return self.rows[:, places % self.rows.shape[1], : self.sizes[0]]

    def sample(self, bits: Tensor) -> Batch:
        """Return the batch that random integers choose, (members, batch)."""
        chosen = below(bits, self.stored.clamp(1, self.rows.shape[1]))
        parts = self.rows[self.members, chosen].split(self.sizes, dim=-1)
        return Batch(*parts[:3], parts[3].squeeze(-1), parts[4].squeeze(-1))
