"""Twin Delayed DDPG for a whole population: the second update rule, in the shape of `Sac`.

The actor is deterministic: its mean, squashed. The order of the steps is Stable-Baselines3's.
"""

import copy

import torch
from torch import Tensor

from icct.learn.config import TrainConfig
from icct.learn.fast import Accelerate, unchanged
from icct.learn.module import TreeModule
from icct.learn.networks import MlpModule, TwinCritics
from icct.learn.optimiser import Adam, follow
from icct.learn.sac import Batch, Losses


class Td3:
    """Deterministic actors, which move every few updates, and targets of actors and critics."""

    noises = 1  # lots of noise an update draws: on the target action

    def __init__(
        self,
        config: TrainConfig,
        actor: TreeModule | MlpModule,
        critics: TwinCritics,
        accelerate: Accelerate = unchanged,
    ) -> None:
        self.config, self.actor, self.critics = config, actor, critics
        self.target_actor = copy.deepcopy(actor).requires_grad_(False)
        self.target_critics = copy.deepcopy(critics).requires_grad_(False)
        self.critic_gradients = accelerate(self._critic_gradients)
        self.actor_gradients = accelerate(self._actor_gradients)
        device = next(actor.parameters()).device
        self.follow = accelerate(follow) if device.type == "cuda" else follow
        self.gamma = torch.tensor(config.per_member("gamma"), device=device).unsqueeze(-1)
        self.last_actor_loss = torch.zeros(config.members, device=device)
        self.tau, self.penalised = config.per_member("tau"), config.penalised
        falling = config.learning.final_lr < 1
        rate = config.per_member
        self.actor_adam = Adam(
            list(actor.parameters()), rate("actor_lr"), accelerate, falling=falling
        )
        self.critic_adam = Adam(
            list(critics.parameters()), rate("critic_lr"), accelerate, falling=falling
        )
        self.optimisers = {"actor": self.actor_adam, "critic": self.critic_adam}

    def explore(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return each member's action with some noise, (members, actions) in [-1, 1]."""
        action = torch.tanh(self.actor(observations.unsqueeze(1))[0]).squeeze(1)
        return (action + self.config.td3.exploration_noise * noise).clamp(-1, 1)

    def moves_actor(self, step: int) -> bool:
        """Return whether a step's update moves actors and targets: every few steps."""
        delay = self.config.td3.policy_delay
        return step % delay == delay - 1

    def update(self, batch: Batch, noise: Tensor, *, move_actor: bool) -> Losses:
        """Do one step of the critics and, every few updates, of the actors and the targets."""
        critic_loss, gradients = self.critic_gradients(batch, noise)
        self.critic_adam.step(gradients)
        if move_actor:
            actor_loss, gradients = self.actor_gradients(batch.observations)
            self.actor_adam.step(gradients)
            self.last_actor_loss.copy_(actor_loss)
            self.follow(list(self.target_critics.layers), list(self.critics.layers), self.tau)
            actors = list(self.target_actor.parameters()), list(self.actor.parameters())
            self.follow(*actors, self.tau)
        nothing = torch.zeros_like(self.last_actor_loss)
        return Losses(critic_loss, self.last_actor_loss, nothing)

    def _critic_gradients(self, batch: Batch, noise: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the mean squared error of both values, (members,), and its gradients."""
        options = self.config.td3
        with torch.no_grad():
            noise = (options.policy_noise * noise).clamp(-options.noise_clip, options.noise_clip)
            action = torch.tanh(self.target_actor(batch.next_observations)[0])
            action = (action + noise).clamp(-1, 1)
            following = self.target_critics(batch.next_observations, action).amin(1)
            target = batch.rewards + (1 - batch.dones) * self.gamma * following
        return self.critics.errors(batch.observations, batch.actions, target, share=1.0)

    def _actor_gradients(self, observations: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return minus the first critic's value of the actors' own actions, and its gradients."""
        action = torch.tanh(self.actor(observations)[0])
        value = self.critics.of_actions(observations, action)[:, 0]
        loss = -value.mean(-1)  # (members,)
        if self.penalised and isinstance(self.actor, TreeModule):
            loss = loss + self.actor.l1_penalty(observations)
        return loss.detach(), self.actor_adam.gradients(loss)

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""
        found = {f"target.{i}": layer for i, layer in enumerate(self.target_critics.layers)}
        found |= {f"target_actor.{i}": p for i, p in enumerate(self.target_actor.parameters())}
        found["last_actor_loss"] = self.last_actor_loss
        for name, optimiser in self.optimisers.items():
            found |= optimiser.state(name)
        return found
