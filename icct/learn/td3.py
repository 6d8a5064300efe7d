"""Twin Delayed DDPG for a whole population: the second update rule, in the shape of `Sac`.

The actor is deterministic: its mean, squashed. The order of the steps is Stable-Baselines3's.
"""

import copy

import torch
from torch import Tensor, nn

from icct.learn.adam import Adam, adam_step, flatten_parameters, spread
from icct.learn.config import TrainConfig
from icct.learn.noise import hashed, normal, places, uniform
from icct.learn.replay import Batch
from icct.learn.sac import EXPLORE, START, UPDATE, Losses, member_vector


class Td3:
    """Actors, critics, the targets of both, and optimisers of one population."""

    def __init__(
        self, config: TrainConfig, actor: nn.Module, critics: nn.Module, device: torch.device
    ) -> None:
        self.config, self.device = config, device
        self.actor, self.critics = actor.to(device), critics.to(device)
        self.target_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.target_critics = copy.deepcopy(self.critics).requires_grad_(False)
        actor_flat, critic_flat = flatten_parameters(self.actor), flatten_parameters(self.critics)
        self.target_actor_flat = flatten_parameters(self.target_actor)
        self.target_critic_flat = flatten_parameters(self.target_critics)
        self.actor_parameters = list(self.actor.parameters())
        self.critic_parameters = list(self.critics.parameters())
        rate = config.per_member
        self.actor_adam = Adam(self.actor_parameters, actor_flat, rate("actor_lr"))
        self.critic_adam = Adam(self.critic_parameters, critic_flat, rate("critic_lr"))
        self.seeds = torch.tensor(config.seeds, dtype=torch.int64, device=device)
        self.action_places = places(actor.actions, device)
        self.update_places = places(config.batch_size * (1 + actor.actions), device)
        self.gamma = member_vector(config, "gamma", device).unsqueeze(-1)
        taus = member_vector(config, "tau", device)
        self.actor_tau = spread(taus, self.actor_parameters)
        self.critic_tau = spread(taus, self.critic_parameters)
        self.actor_loss = torch.zeros(config.members, device=device)
        self.phases = config.policy_delay  # the actor moves in the last phase of each round

    def act(self, observations: Tensor, step: Tensor) -> Tensor:
        """Return an action with exploration, (members, actions) in [-1, 1]."""
        with torch.no_grad():
            action = torch.tanh(self.actor(observations.unsqueeze(1))[0]).squeeze(1)
            noise = normal(hashed(self.seeds, step, EXPLORE, self.action_places))
            action = (action + self.config.exploration_noise * noise).clamp(-1, 1)
            drawn = 2 * uniform(hashed(self.seeds, step, START, self.action_places)) - 1
            return torch.where(step < self.config.learning_starts, drawn, action)

    def draws(self, step: Tensor) -> tuple[Tensor, Tensor]:
        """Return what an update draws: integers that choose the batch, and noise."""
        config, actions = self.config, self.actor.actions
        bits = hashed(self.seeds, step, UPDATE, self.update_places)
        noise = normal(bits[:, config.batch_size :])
        return bits[:, : config.batch_size], noise.reshape(-1, config.batch_size, actions)

    def update(self, batch: Batch, noise: Tensor, phase: int = 0) -> Losses:
        """Do one step of the critics and, in the last phase, of the actor and the targets.

        Args:
            batch: Transitions of every member.
            noise: For the target action, (members, batch, actions).
            phase: Of `phases`.
        """
        critic_loss, gradients = self.critic_gradients(batch, noise)
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
        values = self.critics(batch.observations, batch.actions)
        loss = (values - target.unsqueeze(1)).square().mean(-1).sum(-1)
        return loss.detach(), torch.autograd.grad(loss.sum(), self.critic_parameters)

    def actor_gradients(self, observations: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the actors' loss for each member, and its gradients."""
        action = torch.tanh(self.actor(observations)[0])
        loss = -self.critics(observations, action, frozen=True)[:, 0].mean(-1)
        if hasattr(self.actor, "l1_penalty"):
            loss = loss + self.actor.l1_penalty()
        # A tree's log_std takes no part in a deterministic action.
        gradients = torch.autograd.grad(
            loss.sum(), self.actor_parameters, allow_unused=True, materialize_grads=True
        )
        return loss.detach(), gradients

    def compile(self) -> None:
        """Let torch.compile make the parts of an update; the first one then takes long."""
        self.draws = torch.compile(self.draws)
        self.critic_gradients = torch.compile(self.critic_gradients)
        self.actor_gradients = torch.compile(self.actor_gradients)
        for adam in (self.critic_adam, self.actor_adam):
            adam.move = torch.compile(adam_step)

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""
        state = {"target_actor": self.target_actor_flat, "target_critic": self.target_critic_flat}
        for name in ("actor", "critic"):
            adam: Adam = getattr(self, f"{name}_adam")
            state |= {f"{name}.{key}": value for key, value in adam.state().items()}
        return state
