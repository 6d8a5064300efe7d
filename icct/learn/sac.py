"""Soft Actor-Critic for a whole population at once: the update rule, and nothing else.

Every tensor has a leading `members` axis and losses are summed over it, so that members share the
computation and nothing more. The order of the steps is that of Stable-Baselines3, with which the
paper trained; `tests/learn/test_sac.py` compares the two to 1e-5.
"""

import copy

import torch
from torch import Tensor, nn

from icct.learn.adam import Adam, flatten_parameters, spread
from icct.learn.config import TrainConfig
from icct.learn.crisp import squashed_sample
from icct.learn.deepen import Deepening, Growth
from icct.learn.learner import Learner, Losses
from icct.learn.replay import Batch

ENTROPY_WITH_POLICY = 0.02  # the first coefficient with a policy to start from, which 1 would blur


class Sac(Learner):
    """Stochastic actors, target critics and learned entropy coefficients."""

    noises = 2  # for the present and the next action
    critics_alone = 1  # the phase before the actors' first update

    def __init__(
        self, config: TrainConfig, actor: nn.Module, critics: nn.Module, device: torch.device
    ) -> None:
        super().__init__(config, actor, critics, device)
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        self.target_flat = flatten_parameters(self.targets)
        self.tau = spread(self.vector("tau"), self.critic_parameters)
        first = ENTROPY_WITH_POLICY if config.init else 1.0
        start = first if config.entropy is None else config.entropy
        self.log_entropy = torch.full((config.members,), start, device=device).log()
        rates = config.per_member("entropy_lr")
        self.entropy_adam = Adam([self.log_entropy], self.log_entropy, rates, self.share)
        self.target_entropy = self.vector("target_entropy")
        self.deepening = Deepening(config, self.actor, self.share) if config.grow else None

    def explore(self, observations: Tensor, noise: Tensor) -> Tensor:
        """Return a sample of each member's policy, (members, actions) in [-1, 1]."""
        mean, log_std = self.actor(observations.unsqueeze(1))
        return squashed_sample(mean.squeeze(1), log_std.squeeze(1), noise)[0]

    def phase(self, step: int) -> int:
        """Return whether the critics learn alone, which they do for a policy to start from."""
        return self.critics_alone if step <= self.config.first_actor_step else 0

    def grow(self, observations: Tensor, step: int) -> list[Growth]:
        """Split the leaves of growing trees where it pays on these observations."""
        assert self.deepening is not None, "only a growing tree grows"
        return self.deepening.grow(self, observations, step)

    def update(self, batch: Batch, *noise: Tensor, phase: int = 0) -> Losses:
        """Do one step of every optimiser and of the targets."""
        now, following = noise
        entropy = self.log_entropy.exp()  # before its own step, as in Stable-Baselines3
        critic_loss, gradients = self.critic_gradients(batch, following, entropy)
        self.critic_adam.step(gradients)
        # After the critics' step, and not earlier: torch.compile cannot take both gradients of
        # one sample of the actor.
        actor_loss, log_prob, gradients = self.actor_gradients(batch.observations, now, entropy)
        learning = phase != self.critics_alone
        if learning:
            self.actor_adam.step(gradients)
        if self.deepening is not None:
            self.deepening.update(self, batch.observations, now, entropy)
        # While the actors stand still the coefficient must: nothing would answer to it.
        if self.config.entropy is None and learning:
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
            values, entered = self.critics.trace(batch.observations, batch.actions)
            errors = values - target.unsqueeze(1)
            loss = 0.5 * errors.square().mean(-1).sum(-1)
            return loss, self.critics.gradients(entered, errors / errors.shape[-1])

    def actor_gradients(
        self, observations: Tensor, noise: Tensor, entropy: Tensor
    ) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """Return the actors' loss and mean log-probability for each member, and the gradients."""
        action, log_prob = squashed_sample(*self.actor(observations), noise)
        value = self.critics.lowest(observations, action)
        loss = (entropy.unsqueeze(-1) * log_prob - value).mean(-1)
        loss = loss + self.penalty(observations)
        reported = loss.detach(), log_prob.detach().mean(-1)  # before `grad` ends a program
        return *reported, torch.autograd.grad(loss.sum(), self.actor_parameters)

    def state(self) -> dict[str, Tensor]:
        """Return what a checkpoint keeps, by name; loading copies into these tensors."""
        return {
            "target_critic": self.target_flat,
            **self.actor_adam.state("actor"),
            **self.critic_adam.state("critic"),
            **self.entropy_adam.state("entropy"),
            **({} if self.deepening is None else self.deepening.state(self.actor)),
        }
