"""The paper's equations, one function each: hard choices forward, soft gradients backward.

All functions work on the last axis and broadcast over the rest, so a leading `members` axis makes
a population of trees one computation. `noise` is Gumbel noise for the paper's ablation; None
leaves the choice deterministic. Values are exact: a chosen entry is 1.0 and the rest 0.0 to the
bit, which is what lets `freeze` agree with the module on every observation.
"""

import torch
from torch import Tensor
from torch.nn import functional

LOG_STD_RANGE = (-20.0, 2.0)  # as in Stable-Baselines3's SAC, with which the paper trained


def straight_through(hard: Tensor, soft: Tensor) -> Tensor:
    """Return the value of `hard` with the gradient of `soft` (Algorithm 4, last line)."""
    return hard + (soft - soft.detach())  # in this order: soft - soft is exactly 0


def soft_argmax(logits: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """Return the softmax of the logits over a temperature (Equation 4)."""
    return functional.softmax(logits / temperature, dim=-1)


def diff_argmax(
    logits: Tensor, temperature: Tensor | float = 1.0, noise: Tensor | None = None
) -> Tensor:
    """Return a one-hot vector at the largest logit, differentiable through the softmax.

    The paper's Algorithm 4; with noise, its Gumbel-softmax variant. The argmax is taken of the
    logits, not of their softmax, in which neighbouring floats can become equal.
    """
    if noise is not None:
        logits = logits + noise
    hard = torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    return straight_through(hard, soft_argmax(logits, temperature))


def diff_top_k(
    logits: Tensor, k: int, temperature: Tensor | float = 1.0, noise: Tensor | None = None
) -> Tensor:
    """Return k one-hot vectors, shape (k, ...), at the k largest logits (h of Equation 7).

    `diff_argmax` applied k times; each time, what was chosen before can no longer be chosen. Noise,
    shape (k, ...), is another one for each time.
    """
    choices: list[Tensor] = []
    for pick in range(k):
        choice = diff_argmax(logits, temperature, None if noise is None else noise[pick])
        choices.append(choice)
        logits = logits.masked_fill(choice.detach() > 0.5, -torch.inf)
    return torch.stack(choices)


def node_crisp(
    weights: Tensor, temperature: Tensor | float = 1.0, noise: Tensor | None = None
) -> Tensor:
    """Return the weights with all but the largest in magnitude set to 0 (Equation 5)."""
    return diff_argmax(weights.abs(), temperature, noise) * weights


def outcome_crisp(
    scores: Tensor, temperature: Tensor | float = 1.0, noise: Tensor | None = None
) -> Tensor:
    """Return 1 where a node's score is above 0, else 0 (Equation 6).

    The softmax of (score, 0) is the sigmoid of the score. A score of exactly 0 gives 0, as the
    paper's indicator says; an argmax over the pair would give 1. With noise, shape (..., 2), the
    pair is disturbed before the comparison.
    """
    if noise is not None:
        scores = scores + (noise[..., 0] - noise[..., 1])
    return straight_through((scores > 0).to(scores.dtype), torch.sigmoid(scores / temperature))


def route(outcomes: Tensor) -> Tensor:
    """Return the weight of each leaf, shape (..., leaves), from node outcomes (..., leaves - 1).

    Nodes are numbered level by level from the root; the true branch comes first. Crisp outcomes
    give a one-hot vector, fuzzy ones a distribution.
    """
    weights = torch.ones_like(outcomes[..., :1])
    first = 0
    while first < outcomes.shape[-1]:
        level = outcomes[..., first : first + weights.shape[-1]]
        first += weights.shape[-1]
        weights = torch.stack((weights * level, weights * (1 - level)), dim=-1).flatten(-2)
    return weights


def sparse_controllers(
    observations: Tensor, choices: Tensor, weights: Tensor, biases: Tensor
) -> Tensor:
    """Return the value of every sparse leaf controller for every observation (Equation 8).

    Each choice picks a weight, a feature and a bias, and contributes weight times feature plus
    bias; so the choice learns from both factors. Equation 8 read to the letter, with the product
    taken feature by feature, has the same value but no gradient for a feature not chosen. The
    paper's Equations 3 and 8 differ in the sign of the bias; here it is added, as in 8.

    Args:
        observations: (members, batch, features).
        choices: e one-hot vectors for each leaf and action, (e, members, leaves, actions,
            features), from `diff_top_k`.
        weights: (members, leaves, actions, features).
        biases: (members, leaves, actions, features); those of the chosen features are summed.

    Returns:
        (members, batch, leaves, actions).
    """
    total = (choices.sum(0) * biases).sum(-1).unsqueeze(1)
    for choice in choices:
        weight = (choice * weights).sum(-1).unsqueeze(1)
        total = total + weight * linear_controllers(observations, choice)
    return total


def linear_controllers(observations: Tensor, weights: Tensor) -> Tensor:
    """Return weights times observation for every leaf, (members, batch, leaves, actions)."""
    members, leaves, actions, features = weights.shape
    flat = weights.reshape(members, leaves * actions, features)
    return (observations @ flat.mT).unflatten(-1, (leaves, actions))
