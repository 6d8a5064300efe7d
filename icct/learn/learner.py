"""What the update rules share: actors, critics, their optimisers, and the draws of an update."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from icct.learn.adam import Adam, adam_step, flatten_parameters
from icct.learn.config import TrainConfig
from icct.learn.noise import hashed, normal, places, uniform
from icct.learn.replay import Batch

UPDATE, EXPLORE, START = range(3)  # what is drawn at a step, told apart by a number


class Losses(NamedTuple):
    """What an update reports for each member, (members,)."""

    critic: Tensor
    actor: Tensor
    entropy: Tensor  # the coefficient; 0 for a rule without one


class Learner(ABC):
    """One population and its update rule."""

    phases = 1  # updates differ by `step % phases`; each phase is a program of its own
    noises = 1  # how many lots of noise an update draws

    def __init__(
        self, config: TrainConfig, actor: nn.Module, critics: nn.Module, device: torch.device
    ) -> None:
        self.config, self.device = config, device
        self.actor, self.critics = actor.to(device), critics.to(device)
        actor_flat, critic_flat = flatten_parameters(self.actor), flatten_parameters(self.critics)
        self.actor_parameters = list(self.actor.parameters())
        self.critic_parameters = list(self.critics.parameters())
        rate = config.per_member
        falls = config.final_lr < 1
        self.share = torch.ones((), dtype=torch.float64, device=device) if falls else None
        self.actor_adam = Adam(self.actor_parameters, actor_flat, rate("actor_lr"), self.share)
        self.critic_adam = Adam(self.critic_parameters, critic_flat, rate("critic_lr"), self.share)
        self.seeds = torch.tensor(config.seeds, dtype=torch.int64, device=device)
        self.gamma = self.vector("gamma").unsqueeze(-1)
        self.penalised = config.is_tree and any(config.per_member("l1"))
        self.action_places = places(actor.actions, device)
        count = config.batch_size * (1 + self.noises * actor.actions)
        self.update_places = places(count, device)

    @abstractmethod
    def explore(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return the action of each member with noise, (members, actions) in [-1, 1]."""

    @abstractmethod
    def update(self, batch: Batch, *noise: Tensor, phase: int = 0) -> Losses:
        """Do one step of the optimisers and targets; each noise is (members, batch, actions)."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""

    def act(self, observations: Tensor, step: Tensor) -> Tensor:
        """Return the action to take: random before learning starts, then with exploration."""
        with torch.no_grad():
            noise = normal(hashed(self.seeds, step, EXPLORE, self.action_places))
            held = step // self.config.random_hold
            drawn = 2 * uniform(hashed(self.seeds, held, START, self.action_places)) - 1
            action = self.explore(observations, noise)
            if self.config.init:  # a policy to start from knows better than chance
                return action
            return torch.where(step < self.config.learning_starts, drawn, action)

    def phase(self, step: int) -> int:
        """Return which of the programs the update of a step is."""
        return step % self.phases

    def draws(self, step: Tensor) -> tuple[Tensor, ...]:
        """Return what an update draws: integers that choose the batch, and lots of noise."""
        rows, actions = self.config.batch_size, self.actor.actions
        bits = hashed(self.seeds, step, UPDATE, self.update_places)
        noise = normal(bits[:, rows:]).reshape(-1, self.noises, rows, actions)
        return bits[:, :rows], *noise.unbind(1)

    def set_share(self, step: Tensor) -> None:
        """Let the learning rates be those of a step."""
        if self.share is not None:
            done = step.double() / self.config.steps
            self.share.copy_(1 - (1 - self.config.final_lr) * done)

    def compile(self) -> None:
        """Let torch.compile make the parts of a step; the first one then takes long."""
        for part in ("act", "draws", "critic_gradients", "actor_gradients"):
            setattr(self, part, torch.compile(getattr(self, part)))
        for adam in (self.critic_adam, self.actor_adam):
            adam.move = torch.compile(adam_step)

    def vector(self, name: str) -> Tensor:
        """Return an option as one number for each member, (members,)."""
        return torch.tensor(self.config.per_member(name), device=self.device)

    def penalty(self, observations: Tensor) -> Tensor:
        """Return what is added to each actor's loss on a batch, (members,)."""
        if self.penalised:
            return self.actor.l1_penalty(observations)
        return torch.zeros(self.config.members, device=self.device)
