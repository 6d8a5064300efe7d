"""The trainable tree: a population of trees as one batched, differentiable computation.

Every parameter has a leading `members` axis; one tree is the case `members == 1`. The module maps
raw observations to the mean and log standard deviation of the action before squashing. What is
deployed is never this module but the `Policy` that `freeze` makes of it.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Generator, Tensor, nn

from icct.errors import ConfigError
from icct.learn.crisp import (
    LOG_STD_RANGE,
    diff_top_k,
    linear_controllers,
    node_crisp,
    outcome_crisp,
    route,
    sparse_controllers,
)
from icct.methods import TreeConfig


class TreeModule(nn.Module):
    """Trees of one shape, one for each seed.

    Parameters, with M members, N = leaves - 1 nodes, L leaves, A actions and m features:

    | name           | shape        | in the paper                                         |
    |----------------|--------------|------------------------------------------------------|
    | node_weights   | (M, N, m)    | w, of which the largest in magnitude is used         |
    | node_biases    | (M, N)       | b                                                    |
    | sharpness      | (M, N or 1)  | alpha                                                |
    | leaf_weights   | (M, L, A, m) | beta (sparse and complete leaves)                    |
    | leaf_biases    | (M, L, A, m) | phi, one for each feature (sparse leaves)            |
    |                | (M, L, A)    | one constant (static and complete leaves)            |
    | leaf_selectors | (M, L, A, m) | theta, chooses the features (sparse leaves)          |
    | log_std        | (M, L, A)    | log of gamma                                         |
    """

    temperature: Tensor
    l1: Tensor
    active: Tensor | None

    def __init__(
        self, config: TreeConfig, features: int, actions: int, seeds: Sequence[int] = (0,)
    ) -> None:
        super().__init__()
        if features < 1 or actions < 1 or not seeds:
            raise ConfigError(
                f"A tree needs features, actions and seeds; found {features}, {actions} and "
                f"{len(seeds)}."
            )
        if config.leaf == "sparse" and config.leaf_features > features:
            raise ConfigError(
                f"leaf_features is {config.leaf_features}, but there are only {features} features;"
                " leaf='complete' uses all of them."
            )
        self.config, self.features, self.actions = config, features, actions
        self.seeds = tuple(seeds)
        nodes, leaves = config.leaves - 1, config.leaves
        rules = (leaves, actions, features)
        draw = MemberDraws(self.seeds)
        # The distributions are those of the authors' released code.
        self.node_weights = draw(lambda g: torch.rand(nodes, features, generator=g))
        self.node_biases = draw(lambda g: torch.randn(nodes, generator=g))
        per_node = nodes if config.sharpness == "per_node" else 1
        self.sharpness = draw(lambda g: torch.ones(per_node))
        spread = (6 / (leaves + actions)) ** 0.5
        if config.leaf == "sparse":
            std = (2 / (features * (leaves + actions))) ** 0.5
            self.leaf_weights = draw(lambda g: std * torch.randn(rules, generator=g))
            self.leaf_biases = draw(lambda g: std * torch.randn(rules, generator=g))
            self.leaf_selectors = draw(lambda g: std * torch.randn(rules, generator=g))
        elif config.leaf == "complete":
            bound = features**-0.5
            self.leaf_weights = draw(lambda g: uniform(rules, bound, g))
            self.leaf_biases = draw(lambda g: uniform((leaves, actions), bound, g))
        else:
            self.leaf_biases = draw(lambda g: uniform((leaves, actions), spread, g))
        self.log_std = draw(lambda g: uniform((leaves, actions), spread, g))
        self.register_buffer("temperature", torch.full((self.members,), config.temperature))
        self.register_buffer("l1", torch.full((self.members,), config.l1))
        # Which nodes decide, (members, nodes), in a tree that is not complete: the others send
        # everything to their true branch, whose first leaf stands for the whole subtree.
        self.register_buffer("active", None)

    @property
    def members(self) -> int:
        """The number of trees."""
        return len(self.seeds)

    def forward(self, observations: Tensor, noisy: bool | None = None) -> tuple[Tensor, Tensor]:
        """Return mean and log standard deviation of the action before squashing.

        Args:
            observations: (members, batch, features).
            noisy: Whether choices are disturbed by Gumbel noise; by default while a tree with
                selector `gumbel` is in training mode.

        Returns:
            Two tensors of shape (members, batch, actions).
        """
        if noisy is None:
            noisy = self.training and self.config.selector == "gumbel"
        weights = self.leaf_routing(observations, noisy).unsqueeze(-1)
        mean = (weights * self.leaf_values(observations, noisy)).sum(-2)
        log_std = (weights * self.log_std.unsqueeze(1)).sum(-2)
        return mean, log_std.clamp(*LOG_STD_RANGE)

    def node_scores(self, observations: Tensor, noisy: bool = False) -> Tensor:
        """Return alpha (w x - b) of every node, (members, batch, nodes): true where above 0."""
        weights: Tensor = self.node_weights
        if self.config.routing == "crisp":
            noise = gumbel_noise(weights) if noisy else None
            weights = node_crisp(weights, self._temperature(3), noise)
        linear = observations @ weights.mT - self.node_biases.unsqueeze(1)
        return self.sharpness.unsqueeze(1) * linear

    def leaf_routing(self, observations: Tensor, noisy: bool = False) -> Tensor:
        """Return how much each leaf counts, (members, batch, leaves); one-hot for crisp trees."""
        scores = self.node_scores(observations, noisy)
        if self.config.routing == "fuzzy":
            return route(torch.sigmoid(scores))
        noise = gumbel_noise(scores.unsqueeze(-1).expand(*scores.shape, 2)) if noisy else None
        outcomes = outcome_crisp(scores, self._temperature(3), noise)
        if self.active is not None:
            outcomes = torch.where(self.active.unsqueeze(1), outcomes, 1.0)
        return route(outcomes)

    def leaf_values(self, observations: Tensor, noisy: bool = False) -> Tensor:
        """Return every leaf's controller value, (members, batch, leaves, actions)."""
        if self.config.leaf == "static":
            return self.leaf_biases.unsqueeze(1)
        if self.config.leaf == "complete":
            values = linear_controllers(observations, self.leaf_weights)
            return values + self.leaf_biases.unsqueeze(1)
        choices = self.leaf_choices(noisy)
        return sparse_controllers(observations, choices, self.leaf_weights, self.leaf_biases)

    def leaf_choices(self, noisy: bool = False) -> Tensor:
        """Return the choices of sparse leaves, (e, members, leaves, actions, features)."""
        logits = self.leaf_selectors.abs()
        count = self.config.leaf_features
        noise = gumbel_noise(logits.expand(count, *logits.shape)) if noisy else None
        return diff_top_k(logits, count, self._temperature(4), noise)

    def l1_penalty(self, observations: Tensor) -> Tensor:
        """Return the L1 penalty on leaf weights for a batch (members, batch, features), (members,).

        As in the authors' released code, a leaf counts by the share of the batch that reaches it,
        and the sum over leaves is multiplied by their number. No gradient reaches the routing.
        """
        if self.config.leaf == "static":
            return torch.zeros_like(self.temperature)
        with torch.no_grad():
            shares = self.leaf_routing(observations).mean(1)
        leaves = self.config.leaves if self.active is None else 1 + self.active.sum(1)
        return self.l1 * leaves * (shares * self.leaf_weights.abs().sum((2, 3))).sum(1)

    def _temperature(self, axes: int) -> Tensor:
        return self.temperature.reshape(-1, *[1] * (axes - 1))


def gumbel_noise(like: Tensor) -> Tensor:
    """Return samples of the Gumbel(0, 1) distribution in the shape of a tensor (Equation 9)."""
    return -torch.empty_like(like).exponential_().log()


class MemberDraws:
    """Draws the start of a parameter for each member from its own generator.

    So a member starts the same whether it is alone or one of many.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        self.generators = [Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, draw: Callable[[Generator], Tensor]) -> nn.Parameter:
        """Return a parameter with one draw for each member."""
        return nn.Parameter(torch.stack([draw(generator) for generator in self.generators]))


def uniform(shape: Sequence[int], bound: float, generator: Generator) -> Tensor:
    """Return numbers in [-bound, bound)."""
    return (2 * torch.rand(tuple(shape), generator=generator) - 1) * bound
