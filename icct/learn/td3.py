"""Twin Delayed DDPG for a whole population: the second update rule, in the shape of `Sac`.

The actor is deterministic: its mean, squashed. The order of the steps is Stable-Baselines3's.
"""

import copy

import torch
from torch import Tensor, nn

from icct.learn.adam import flatten_parameters, spread
from icct.learn.config import TrainConfig
from icct.learn.learner import Learner, Losses
from icct.learn.replay import Batch


class Td3(Learner):
    """Deterministic actors, which move every few updates, and targets of actors and critics."""

    def __init__(
        self, config: TrainConfig, actor: nn.Module, critics: nn.Module, device: torch.device
    ) -> None:
        super().__init__(config, actor, critics, device)
        self.target_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.target_critics = copy.deepcopy(self.critics).requires_grad_(False)
        self.target_actor_flat = flatten_parameters(self.target_actor)
        self.target_critic_flat = flatten_parameters(self.target_critics)
        self.actor_tau = spread(self.vector("tau"), self.actor_parameters)
        self.critic_tau = spread(self.vector("tau"), self.critic_parameters)
        self.actor_loss = torch.zeros(config.members, device=device)
        self.phases = config.policy_delay  # the actor moves in the last one

    def explore(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return each member's action with some noise, (members, actions) in [-1, 1]."""
        action = torch.tanh(self.actor(observations.unsqueeze(1))[0]).squeeze(1)
        return (action + self.config.exploration_noise * noise).clamp(-1, 1)

    def update(self, batch: Batch, *noise: Tensor, phase: int = 0) -> Losses:
        """Do one step of the critics and, in the last phase, of the actor and the targets."""
        critic_loss, gradients = self.critic_gradients(batch, noise[0])
        self.critic_adam.step(gradients)
        if phase == self.phases - 1:
            loss, gradients = self.actor_gradients(batch.observations)
            self.actor_adam.step(gradients)
            self.actor_loss.copy_(loss)
            self.target_critic_flat.lerp_(self.critic_adam.flat, self.critic_tau)
            self.target_actor_flat.lerp_(self.actor_adam.flat, self.actor_tau)
        return Losses(critic_loss, self.actor_loss, torch.zeros_like(self.actor_loss))

    def critic_gradients(self, batch: Batch, noise: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the critics' loss for each member, and its gradients."""
        config = self.config
        with torch.no_grad():
            noise = (config.policy_noise * noise).clamp(-config.noise_clip, config.noise_clip)
            action = torch.tanh(self.target_actor(batch.next_observations)[0])
            action = (action + noise).clamp(-1, 1)
            following = self.target_critics(batch.next_observations, action).amin(1)
            target = batch.rewards + (1 - batch.dones) * self.gamma * following
            values, entered = self.critics.trace(batch.observations, batch.actions)
            errors = values - target.unsqueeze(1)
            loss = errors.square().mean(-1).sum(-1)
            return loss, self.critics.gradients(entered, 2 * errors / errors.shape[-1])

    def actor_gradients(self, observations: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the actors' loss for each member, and its gradients."""
        action = torch.tanh(self.actor(observations)[0])
        value = self.critics.first(observations, action)
        loss = self.penalty(observations) - value.mean(-1)
        reported = loss.detach()  # before `grad` ends a program
        # A tree's log_std takes no part in a deterministic action.
        return reported, torch.autograd.grad(
            loss.sum(), self.actor_parameters, allow_unused=True, materialize_grads=True
        )

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""
        return {
            "target_actor": self.target_actor_flat,
            "target_critic": self.target_critic_flat,
            "actor_loss": self.actor_loss,
            **self.actor_adam.state("actor"),
            **self.critic_adam.state("critic"),
        }
