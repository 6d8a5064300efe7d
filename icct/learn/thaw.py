"""Policy → TreeModule, to train on from a policy that was edited, distilled or grown."""

import math

import torch

from icct.errors import ConfigError
from icct.learn.module import TreeModule
from icct.methods import LeafKind, TreeConfig
from icct.policy import Feature, Leaf, Policy, Split
from icct.policy.parts import Node

DEEPEST_THAW = 10  # a complete tree of 1024 leaves
NOWHERE = Split(0, 0.0, 0, 0)  # stands below a leaf where the module has nodes and the policy none


def thaw(
    policy: Policy,
    *,
    members: int = 1,
    dtype: torch.dtype = torch.float32,
    config: TreeConfig | None = None,
) -> TreeModule:
    """Return a module whose mean is the policy's controller value, for training on.

    An uneven tree keeps its shape: the module is a complete tree in which only the policy's splits
    are active. Numbers are rounded to `dtype`, thresholds downwards, so that every observation of
    that type reaches the same leaf.

    Args:
        policy: What to train on from.
        members: How many copies.
        dtype: The module's floating-point type.
        config: The shape to thaw into; by default the smallest that holds the policy, with static
            or complete leaves, or sparse ones with the most features a rule of the policy has.
    """
    if config is None:
        config = _smallest_shape(policy)
    depth = config.leaves.bit_length() - 1
    _check_holds(config, policy)
    size = len(policy.features)
    module = TreeModule(config, size, len(policy.actions), seeds=(0,) * members).to(dtype)
    heap = _filled(policy, depth)
    inner = heap[: 2**depth - 1]
    decides = torch.tensor([isinstance(node, Split) and node != NOWHERE for node in inner])
    if not decides.all():
        module.active = decides.expand(members, -1).clone()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.sharpness.fill_(1.0)
        for position, node in enumerate(heap):
            if isinstance(node, Split):
                scale = _scale(policy.features[node.feature])
                module.node_weights[:, position, node.feature] = scale
                module.node_biases[:, position] = scale * _rounded_down(node.threshold, dtype)
            else:
                _set_leaf(module, position - (2**depth - 1), node)
    return module


def most_weights(policy: Policy) -> int:
    """Return the largest number of weights that a rule of the policy has."""
    leaves = [node for node in policy.nodes if isinstance(node, Leaf)]
    return max(len(rule.weights) for leaf in leaves for rule in leaf.controllers)


def _smallest_shape(policy: Policy) -> TreeConfig:
    depth, most = max(policy.depth, 1), most_weights(policy)
    if depth > DEEPEST_THAW:
        raise ConfigError(
            f"{policy.name} has depth {depth}; thaw fills trees up to depth {DEEPEST_THAW}."
        )
    kind: LeafKind = (
        "static" if most == 0 else "complete" if most == len(policy.features) else "sparse"
    )
    return TreeConfig(leaves=2**depth, leaf=kind, leaf_features=max(most, 1))


def _check_holds(config: TreeConfig, policy: Policy) -> None:
    most, depth = most_weights(policy), config.leaves.bit_length() - 1
    held = {"static": 0, "sparse": config.leaf_features, "complete": len(policy.features)}
    if most > held[config.leaf]:
        raise ConfigError(
            f"{policy.name} has a rule of {most} weights; {config.leaf} leaves hold "
            f"{held[config.leaf]}. Choose a method whose leaves have at least {most} features."
        )
    if policy.depth > depth:
        raise ConfigError(
            f"{policy.name} has depth {policy.depth}, and a tree of {config.leaves} leaves only "
            f"{depth}: it needs --leaves {2**policy.depth} or more."
        )


def _filled(policy: Policy, depth: int) -> list[Node]:
    """Return the complete tree, level by level, true (above) branch first, as in the module.

    Below a leaf stand splits that lead nowhere, and copies of the leaf.
    """
    heap: list[Node] = []
    level: list[Node] = [policy.nodes[0]]
    for remaining in range(depth, -1, -1):
        heap += [NOWHERE if remaining and isinstance(n, Leaf) else n for n in level]
        level = [
            child
            for node in level
            for child in (
                (policy.nodes[node.above], policy.nodes[node.below])
                if isinstance(node, Split)
                else (node, node)
            )
        ]
    return heap


def _set_leaf(module: TreeModule, leaf: int, node: Leaf) -> None:
    for action, rule in enumerate(node.controllers):
        if node.log_std is not None:
            module.log_std[:, leaf, action] = node.log_std[action]
        for feature, weight in rule.weights:
            module.leaf_weights[:, leaf, action, feature] = weight
        if module.config.leaf != "sparse":
            module.leaf_biases[:, leaf, action] = rule.bias
            continue
        # A rule with fewer features is filled up with features of weight 0.
        own = [feature for feature, _ in rule.weights]
        rest = [feature for feature in range(module.features) if feature not in own]
        chosen = (own + rest)[: module.config.leaf_features]
        module.leaf_selectors[:, leaf, action, chosen] = 1.0
        module.leaf_biases[:, leaf, action, chosen[0]] = rule.bias


def _scale(feature: Feature) -> float:
    """Return a weight that makes the feature's range about 8, so that thresholds move gently.

    With a weight of 1 one step of an optimiser could carry a threshold in radians across all that
    matters. A power of two: the products stay exact.
    """
    width = feature.high - feature.low
    if not (math.isfinite(width) and 1e-6 < width < 1e6):
        return 1.0
    return 2.0 ** round(math.log2(8 / width))


def _rounded_down(value: float, dtype: torch.dtype) -> float:
    rounded = torch.tensor(value, dtype=dtype)
    if rounded.double().item() > value:
        rounded = torch.nextafter(rounded, torch.tensor(-math.inf, dtype=dtype))
    return rounded.item()
