"""Soft Actor-Critic for a whole population at once, in ordinary torch.

Every tensor has a leading `members` axis and losses are summed over it, so that members share the
computation and nothing more. The order of the steps is that of Stable-Baselines3, with which the
paper trained; `tests/learn/test_sac.py` compares the two to 1e-5. What makes it fast is in fast.py.
"""

import copy
import math
from typing import NamedTuple

import torch
from torch import Tensor

from icct.learn.config import TrainConfig
from icct.learn.fast import Accelerate, unchanged
from icct.learn.module import TreeModule
from icct.learn.networks import MlpModule, TwinCritics
from icct.learn.optimiser import Adam, follow

ENTROPY_WITH_POLICY = 0.02  # the first coefficient with a policy to start from, which 1 would blur
LOG_PROB_EPSILON = 1e-6  # as in Stable-Baselines3


class Batch(NamedTuple):
    """Transitions of every member, each (members, batch, ...)."""

    observations: Tensor
    next_observations: Tensor
    actions: Tensor  # in [-1, 1]
    rewards: Tensor  # (members, batch)
    dones: Tensor  # (members, batch), 1 where nothing follows


class Losses(NamedTuple):
    """What an update reports for each member, (members,)."""

    critic: Tensor
    actor: Tensor
    entropy: Tensor  # the coefficient; 0 for a rule without one


class Sac:
    """Stochastic actors, twin critics with targets, learned entropy coefficients."""

    noises = 2  # lots of noise an update draws: for the present and the next action

    def __init__(
        self,
        config: TrainConfig,
        actor: TreeModule | MlpModule,
        critics: TwinCritics,
        accelerate: Accelerate = unchanged,
    ) -> None:
        self.config, self.actor, self.critics = config, actor, critics
        self.targets = copy.deepcopy(critics).requires_grad_(False)
        self.critic_gradients = accelerate(self._critic_gradients)
        self.actor_gradients = accelerate(self._actor_gradients)
        device = next(actor.parameters()).device
        self.follow = accelerate(follow) if device.type == "cuda" else follow
        first = ENTROPY_WITH_POLICY if config.start.init else 1.0
        start = first if config.sac.entropy is None else config.sac.entropy
        self.log_entropy = torch.full((config.members,), start, device=device).log()
        self.gamma = torch.tensor(config.per_member("gamma"), device=device).unsqueeze(-1)
        self.target_entropy = torch.tensor(config.per_member("target_entropy"), device=device)
        self.tau = config.per_member("tau")
        self.penalised, self.first_actor_step = config.penalised, config.first_actor_step
        falling = config.learning.final_lr < 1
        rate = config.per_member
        self.actor_adam = Adam(
            list(actor.parameters()), rate("actor_lr"), accelerate, falling=falling
        )
        self.critic_adam = Adam(
            list(critics.parameters()), rate("critic_lr"), accelerate, falling=falling
        )
        self.entropy_adam = Adam(
            [self.log_entropy], rate("entropy_lr"), accelerate, falling=falling
        )
        self.optimisers = {
            "actor": self.actor_adam,
            "critic": self.critic_adam,
            "entropy": self.entropy_adam,
        }

    def explore(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return a sample of each member's policy, (members, actions) in [-1, 1]."""
        mean, log_std = self.actor(observations.unsqueeze(1))
        return squashed_sample(mean.squeeze(1), log_std.squeeze(1), noise)[0]

    def moves_actor(self, step: int) -> bool:
        """Return whether a step's update moves the actors: with a policy to start from, later."""
        return step > self.first_actor_step

    def update(
        self, batch: Batch, noise: Tensor, next_noise: Tensor, *, move_actor: bool
    ) -> Losses:
        """Do one step of every optimiser and of the targets."""
        entropy = self.log_entropy.exp()  # before its own step, as in Stable-Baselines3

        critic_loss, gradients = self.critic_gradients(batch, next_noise, entropy)
        self.critic_adam.step(gradients)

        actor_loss, gradients, of_entropy = self.actor_gradients(batch.observations, noise, entropy)
        if move_actor:  # while the actors stand still the coefficient must: nothing answers to it
            self.actor_adam.step(gradients)
            if self.config.sac.entropy is None:
                self.entropy_adam.step([of_entropy])

        self.follow(list(self.targets.layers), list(self.critics.layers), self.tau)
        return Losses(critic_loss, actor_loss, entropy)

    def _critic_gradients(
        self, batch: Batch, noise: Tensor, entropy: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return half the mean squared error of both values, (members,), and its gradients."""
        with torch.no_grad():
            mean, log_std = self.actor(batch.next_observations)
            action, log_prob = squashed_sample(mean, log_std, noise)
            following = self.targets(batch.next_observations, action).amin(1)
            following = following - entropy.unsqueeze(-1) * log_prob
            target = batch.rewards + (1 - batch.dones) * self.gamma * following
        return self.critics.errors(batch.observations, batch.actions, target, share=0.5)

    def _actor_gradients(
        self, observations: Tensor, noise: Tensor, entropy: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...], Tensor]:
        """Return what the actors make smaller, its gradients, and that of the coefficients."""
        mean, log_std = self.actor(observations)
        action, log_prob = squashed_sample(mean, log_std, noise)
        value = self.critics.of_actions(observations, action).amin(1)
        loss = (entropy.unsqueeze(-1) * log_prob - value).mean(-1)  # (members,)
        if self.penalised and isinstance(self.actor, TreeModule):
            loss = loss + self.actor.l1_penalty(observations)
        # The coefficients make -log_entropy * missing smaller, whose gradient is -missing.
        missing = log_prob.detach().mean(-1) + self.target_entropy  # of the actors' entropy
        return loss.detach(), self.actor_adam.gradients(loss), -missing

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""
        found = {f"target.{index}": layer for index, layer in enumerate(self.targets.layers)}
        for name, optimiser in self.optimisers.items():
            found |= optimiser.state(name)
        return found


def squashed_sample(mean: Tensor, log_std: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Return tanh(mean + std * noise) and its log-probability.

    Args:
        mean: (..., actions), before the tanh.
        log_std: (..., actions).
        noise: Standard normal, (..., actions).

    Returns:
        The actions in [-1, 1], (..., actions), and their log-probabilities, (...).
    """
    action = torch.tanh(mean + log_std.exp() * noise)
    gaussian = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
    return action, (gaussian - torch.log(1 - action.square() + LOG_PROB_EPSILON)).sum(-1)
