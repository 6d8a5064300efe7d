"""Soft Actor-Critic for a whole population at once: the update rule, and nothing else.

Every tensor has a leading `members` axis and losses are summed over it, so that members share the
computation and nothing more. The order of the steps is that of Stable-Baselines3, with which the
paper trained; `tests/learn/test_sac.py` compares the two to 1e-5.
"""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from icct.learn.adam import Adam, adam_step, flatten_parameters, spread
from icct.learn.config import TrainConfig
from icct.learn.crisp import squashed_sample
from icct.learn.noise import hashed, normal, places, uniform
from icct.learn.replay import Batch

UPDATE, EXPLORE, START = range(3)  # what is drawn at a step, told apart by a number


@dataclass(frozen=True)
class Losses:
    """What an update reports for each member, (members,)."""

    critic: Tensor
    actor: Tensor
    entropy: Tensor  # the coefficient


class Sac:
    """Actors, critics, targets, entropy coefficients and optimisers of one population."""

    def __init__(
        self, config: TrainConfig, actor: nn.Module, critics: nn.Module, device: torch.device
    ) -> None:
        self.config, self.device = config, device
        self.actor, self.critics = actor.to(device), critics.to(device)
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        actor_flat, critic_flat = flatten_parameters(self.actor), flatten_parameters(self.critics)
        self.target_flat = flatten_parameters(self.targets)
        self.actor_parameters = list(self.actor.parameters())
        self.critic_parameters = list(self.critics.parameters())
        rate = config.per_member
        self.actor_adam = Adam(self.actor_parameters, actor_flat, rate("actor_lr"))
        self.critic_adam = Adam(self.critic_parameters, critic_flat, rate("critic_lr"))
        start = 1.0 if config.entropy is None else config.entropy
        self.log_entropy = torch.full((config.members,), start, device=device).log()
        self.entropy_adam = Adam([self.log_entropy], self.log_entropy, rate("entropy_lr"))
        self.seeds = torch.tensor(config.seeds, dtype=torch.int64, device=device)
        self.action_places = places(actor.actions, device)
        self.update_places = places(config.batch_size * (1 + 2 * actor.actions), device)
        self.gamma = member_vector(config, "gamma", device).unsqueeze(-1)
        self.target_entropy = member_vector(config, "target_entropy", device)
        self.tau = spread(member_vector(config, "tau", device), self.critic_parameters)
        self.phases = 1

    def act(self, observations: Tensor, step: Tensor) -> Tensor:
        """Return an action with exploration, (members, actions) in [-1, 1]."""
        with torch.no_grad():
            mean, log_std = self.actor(observations.unsqueeze(1))
            noise = normal(hashed(self.seeds, step, EXPLORE, self.action_places))
            action, _ = squashed_sample(mean.squeeze(1), log_std.squeeze(1), noise)
            drawn = 2 * uniform(hashed(self.seeds, step, START, self.action_places)) - 1
            return torch.where(step < self.config.learning_starts, drawn, action)

    def draws(self, step: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what an update draws: integers that choose the batch, and two lots of noise."""
        config, actions = self.config, self.actor.actions
        bits = hashed(self.seeds, step, UPDATE, self.update_places)
        chosen, noise = bits[:, : config.batch_size], normal(bits[:, config.batch_size :])
        now, following = noise.reshape(-1, 2, config.batch_size, actions).unbind(1)
        return chosen, now, following

    def update(self, batch: Batch, now: Tensor, following: Tensor, phase: int = 0) -> Losses:
        """Do one step of every optimiser and of the targets.

        Args:
            batch: Transitions of every member.
            now: Noise for the present action, (members, batch, actions).
            following: Noise for the next action, likewise.
            phase: Of `phases`; SAC has one.
        """
        entropy = self.log_entropy.exp()  # before its own step, as in Stable-Baselines3
        critic_loss, gradients = self.critic_gradients(batch, following, entropy)
        self.critic_adam.step(gradients)
        actor_loss, log_prob, gradients = self.actor_gradients(batch.observations, now, entropy)
        self.actor_adam.step(gradients)
        if self.config.entropy is None:
            self.entropy_adam.step([-(log_prob + self.target_entropy)])
        self.target_flat.lerp_(self.critic_adam.flat, self.tau)
        return Losses(critic_loss, actor_loss, entropy)

    def critic_gradients(
        self, batch: Batch, noise: Tensor, entropy: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the critics' loss for each member, and its gradients."""
        with torch.no_grad():
            action, log_prob = squashed_sample(*self.actor(batch.next_observations), noise)
            following = self.targets(batch.next_observations, action).amin(1)
            following = following - entropy.unsqueeze(-1) * log_prob
            target = batch.rewards + (1 - batch.dones) * self.gamma * following
        values = self.critics(batch.observations, batch.actions)
        loss = 0.5 * (values - target.unsqueeze(1)).square().mean(-1).sum(-1)
        return loss.detach(), torch.autograd.grad(loss.sum(), self.critic_parameters)

    def actor_gradients(
        self, observations: Tensor, noise: Tensor, entropy: Tensor
    ) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """Return the actors' loss and mean log-probability for each member, and the gradients."""
        action, log_prob = squashed_sample(*self.actor(observations), noise)
        value = self.critics(observations, action, frozen=True).amin(1)
        loss = (entropy.unsqueeze(-1) * log_prob - value).mean(-1)
        if hasattr(self.actor, "l1_penalty"):
            loss = loss + self.actor.l1_penalty()
        gradients = torch.autograd.grad(loss.sum(), self.actor_parameters)
        return loss.detach(), log_prob.detach().mean(-1), gradients

    def compile(self) -> None:
        """Let torch.compile make the parts of an update; the first one then takes long."""
        self.draws = torch.compile(self.draws)
        self.critic_gradients = torch.compile(self.critic_gradients)
        self.actor_gradients = torch.compile(self.actor_gradients)
        for adam in (self.critic_adam, self.actor_adam):
            adam.move = torch.compile(adam_step)

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""
        state = {"target.flat": self.target_flat}
        for name in ("actor", "critic", "entropy"):
            adam: Adam = getattr(self, f"{name}_adam")
            state |= {f"{name}.{key}": value for key, value in adam.state().items()}
        return state


def member_vector(config: TrainConfig, name: str, device: torch.device) -> Tensor:
    """Return an option as one number for each member, (members,)."""
    return torch.tensor(config.per_member(name), device=device)
