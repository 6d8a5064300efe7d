"""How precise a leaf is: the entropy of the good actions around what its rule says.

A leaf is split where two new ones are more precise by more than epsilon; see deepen.py.
"""

import math

import torch
from torch import Tensor

from icct.learn.module import TreeModule
from icct.learn.sac import Sac

ACTIONS_TRIED = 64  # for each observation, spread evenly over the action space
SPLITS_DRAWN = 64  # of which the best is where a fresh split starts
FEWEST_SEEN = 40  # observations that a leaf must have before it is judged
SMALLER_SIDE = 0.05  # the share of them that the smaller of the new leaves must get


def good_actions(learner: Sac, observations: Tensor) -> tuple[Tensor, Tensor]:
    """Return actions tried, (k, actions), and how good each is, (members, batch, k), adding to 1.

    Their share is the distribution that SAC drives a policy to, exp(value / entropy coefficient).
    """
    members, batch = observations.shape[:2]
    engine = torch.quasirandom.SobolEngine(learner.actor.actions)
    tried = 2 * engine.draw(ACTIONS_TRIED).to(observations) - 1
    values = [
        learner.critics(observations, action.expand(members, batch, -1)).amin(1) for action in tried
    ]
    coefficient = learner.log_entropy.exp().reshape(-1, 1, 1)
    return tried, torch.softmax(torch.stack(values, -1) / coefficient, dim=-1)


def moments(tried: Tensor, share: Tensor) -> Tensor:
    """Return mean and mean square of the good actions, (members, batch, actions, 2)."""
    return torch.stack((share @ tried, share @ tried.square()), dim=-1)


def leaf_entropies(
    module: TreeModule, observations: Tensor, tried: Tensor, share: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the entropy of every leaf and how many observations reach it, (members, leaves) each.

    A leaf says where an action should be, by its rule; how widely good actions lie around that,
    over the observations that reach it, is the variance of the normal distribution that makes
    them most likely. The entropy is that distribution's, in nats, summed over actions.
    """
    routing = module.leaf_routing(observations)
    mean = torch.tanh(module(observations, noisy=False)[0]).unsqueeze(2)
    spread = (share.unsqueeze(-1) * (tried - mean).square()).sum(2)
    seen = routing.sum(1)
    variance = torch.einsum("mbl,mba->mla", routing, spread) / seen.clamp(min=1).unsqueeze(-1)
    return normal_entropy(variance), seen


def normal_entropy(variance: Tensor) -> Tensor:
    """Return the entropy of normal distributions, (..., actions) → (...), in nats."""
    return 0.5 * torch.log(2 * math.pi * math.e * variance.clamp(min=1e-12)).sum(-1)


def entropy_gain(
    leaf: tuple[Tensor, Tensor], first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]
) -> float:
    """Return how much lower the entropy of two leaves is than that of the one they would replace.

    Each is given as (entropy, observations); the two are weighted by what reaches them. A leaf
    that saw too little, or a split that sends nearly everything one way, gains nothing.
    """
    (one, ones), (two, twos) = first, second
    total = float(ones + twos)
    if total < FEWEST_SEEN or float(min(ones, twos)) < SMALLER_SIDE * total:
        return -math.inf
    return float(leaf[0] - (ones * one + twos * two) / total)


def best_draw(observations: Tensor, good: Tensor, generator: torch.Generator) -> tuple[int, float]:
    """Return the feature and threshold of the best of some random splits.

    Each puts a threshold at one observation's value of one feature. The best leaves the lowest
    entropy when each side does what is good on average there.

    Args:
        observations: Those of one leaf, (n, features).
        good: Mean and mean square of the good actions there, (n, actions, 2).
        generator: What draws them.
    """
    count, features = observations.shape
    feature = torch.randint(features, (SPLITS_DRAWN,), generator=generator)
    row = torch.randint(count, (SPLITS_DRAWN,), generator=generator)
    threshold = observations[row, feature]
    above = (observations[:, feature] > threshold).T.to(good)  # (splits, n)
    entropy = torch.zeros(SPLITS_DRAWN, device=good.device)
    for side in (above, 1 - above):
        share = side.sum(1, keepdim=True)
        mean, square = (torch.einsum("sn,nak->sak", side, good) / share[..., None]).unbind(-1)
        entropy += share[:, 0] / count * normal_entropy(square - mean.square())
        entropy[share[:, 0] < SMALLER_SIDE * count] = torch.inf
    best = int(entropy.nan_to_num(torch.inf).argmin())
    return int(feature[best]), float(threshold[best])
