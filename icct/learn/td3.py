"""Twin Delayed DDPG for a whole population: the second update rule, in the shape of `Sac`.

The actor is deterministic: its mean, squashed. The order of the steps is Stable-Baselines3's.
"""

import copy

import torch
from torch import Tensor, nn

from icct.learn.adam import Adam, flatten_parameters, spread
from icct.learn.config import TrainConfig
from icct.learn.noise import hashed, normal, uniform
from icct.learn.replay import Batch
from icct.learn.sac import EXPLORE, NEXT, START, Losses, member_vector


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
            noise = normal(hashed(self.seeds, step, EXPLORE, action.shape[-1]))
            action = (action + self.config.exploration_noise * noise).clamp(-1, 1)
            drawn = 2 * uniform(hashed(self.seeds, step, START, action.shape[-1])) - 1
            return torch.where(step < self.config.learning_starts, drawn, action)

    def update(self, batch: Batch, step: Tensor, phase: int = 0) -> Losses:
        """Do one step of the critics and, in the last phase, of the actor and the targets."""
        shape = batch.actions.shape
        bits = hashed(self.seeds, step, NEXT, shape[1] * shape[2])
        return self.update_with(batch, normal(bits).view(shape), phase)

    def update_with(self, batch: Batch, noise: Tensor, phase: int) -> Losses:
        """Do the same with given noise for the target action."""
        config = self.config
        with torch.no_grad():
            noise = (config.policy_noise * noise).clamp(-config.noise_clip, config.noise_clip)
            action = torch.tanh(self.target_actor(batch.next_observations)[0])
            action = (action + noise).clamp(-1, 1)
            following = self.target_critics(batch.next_observations, action).amin(1)
            target = batch.rewards + (1 - batch.dones) * self.gamma * following
        values = self.critics(batch.observations, batch.actions)
        critic_loss = (values - target.unsqueeze(1)).square().mean(-1).sum(-1)
        self.critic_adam.step(torch.autograd.grad(critic_loss.sum(), self.critic_parameters))
        if phase == self.phases - 1:
            self._move_actor(batch.observations)
        return Losses(critic_loss.detach(), self.actor_loss, torch.zeros_like(self.actor_loss))

    def _move_actor(self, observations: Tensor) -> None:
        action = torch.tanh(self.actor(observations)[0])
        loss = -self.critics(observations, action, frozen=True)[:, 0].mean(-1)
        if hasattr(self.actor, "l1_penalty"):
            loss = loss + self.actor.l1_penalty()
        # A tree's log_std takes no part in a deterministic action.
        gradients = torch.autograd.grad(
            loss.sum(), self.actor_parameters, allow_unused=True, materialize_grads=True
        )
        self.actor_adam.step(gradients)
        self.actor_loss.copy_(loss.detach())
        self.target_critic_flat.lerp_(self.critic_adam.flat, self.critic_tau)
        self.target_actor_flat.lerp_(self.actor_adam.flat, self.actor_tau)

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""
        state = {"target_actor": self.target_actor_flat, "target_critic": self.target_critic_flat}
        for name in ("actor", "critic"):
            adam: Adam = getattr(self, f"{name}_adam")
            state |= {f"{name}.{key}": value for key, value in adam.state().items()}
        return state
