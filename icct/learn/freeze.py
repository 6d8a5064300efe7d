"""TreeModule → Policy, exactly; and back, to train on from an edited policy.

`freeze` finds each threshold by asking the module itself: the largest number, of the module's own
floating-point type, that still takes the lower branch. Rounding inside the module and in the
scaling before it, ties, negative weights and negative sharpness are thereby absorbed, and the
policy reaches the module's leaf on every observation of that type (which are all that there are).
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from icct.errors import ConfigError
from icct.learn.methods import LeafKind, TreeConfig
from icct.learn.module import TreeModule
from icct.learn.scaling import Rescaling, folded
from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance, Split
from icct.policy.edit import renumbered
from icct.policy.parts import Node, Squash

Floats = NDArray[np.floating]
Integers = NDArray[np.signedinteger]
NEARBY = 32  # floats either side of bias / weight where a threshold is looked for first
DEEPEST_THAW = 10  # a complete tree of 1024 leaves
NOWHERE = Split(0, 0.0, 0, 0)  # stands below a leaf where the module has nodes and the policy none


def freeze(
    module: TreeModule,
    features: Sequence[Feature],
    actions: Sequence[Action],
    *,
    member: int = 0,
    name: str = "tree",
    squash: Squash = "tanh",
    provenance: Provenance | None = None,
    scaling: Rescaling | None = None,
) -> Policy:
    """Return one member of a crisp module as a policy that acts as the module does.

    A node whose score has the same sign for every observation decides nothing; the side it always
    takes stands in its place. With the scaling that the module was trained behind, the policy takes
    observations as they were before it.
    """
    if module.config.routing == "fuzzy":
        raise ConfigError(
            "A fuzzy tree is no policy: it mixes all its leaves. `crispify` makes a crisp tree of "
            "it that acts differently (the paper's CDDT-crisp)."
        )
    _check_call(module, features, actions, member)
    chosen, threshold, true_above = _thresholds(module, member, scaling)
    leaves = _leaves(module, member, scaling)
    return _policy(
        features, actions, leaves, chosen, threshold, true_above, name, squash, provenance
    )


def crispify(
    module: TreeModule,
    features: Sequence[Feature],
    actions: Sequence[Action],
    *,
    member: int = 0,
    name: str = "crispified",
    squash: Squash = "tanh",
    provenance: Provenance | None = None,
) -> Policy:
    """Return a fuzzy tree made crisp after training, as prior work does; it acts differently.

    Each node keeps its weight of largest magnitude and becomes a hard decision. The result is
    inconsistent with the trained tree by nature, and its history says so.
    """
    if module.config.routing != "fuzzy":
        raise ConfigError("Only a fuzzy tree needs crispify; use freeze for a crisp one.")
    _check_call(module, features, actions, member)
    weights = _array(module.node_weights[member])
    biases = _array(module.node_biases[member])
    alpha = _array(module.sharpness[member])
    chosen = np.abs(weights).argmax(-1)
    slope = weights[np.arange(len(weights)), chosen]
    with np.errstate(divide="ignore", invalid="ignore"):
        threshold = biases / slope
    # Where the slope is 0 the node decides by the sign of its bias alone: always one side.
    threshold[slope == 0] = np.where(biases[slope == 0] < 0, -math.inf, math.inf)
    rising = np.where(slope == 0, True, slope * np.sign(alpha) > 0)
    leaves = _leaves(module, member, None)
    policy = _policy(features, actions, leaves, chosen, threshold, rising, name, squash, provenance)
    return policy.noted("made crisp after training: does not act as the trained fuzzy tree")


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


# -- module → policy ----------------------------------------------------------------------------


def _check_call(
    module: TreeModule, features: Sequence[Feature], actions: Sequence[Action], member: int
) -> None:
    if len(features) != module.features or len(actions) != module.actions:
        raise ConfigError(
            f"The module has {module.features} features and {module.actions} actions; "
            f"{len(features)} and {len(actions)} were named."
        )
    if not 0 <= member < module.members:
        raise ConfigError(f"There is no member {member}; there are {module.members}.")


def _thresholds(
    module: TreeModule, member: int, scaling: Rescaling | None
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_]]:
    """Return each node's feature, the threshold, and whether its true branch lies above.

    A node that never decides has threshold -inf (all above) or inf (all below).
    """
    weights = module.node_weights[member].detach()
    chosen = weights.abs().argmax(-1).cpu().numpy()
    rows = np.arange(len(chosen))
    numbers = weights.cpu().numpy().dtype

    def is_true(values: Floats) -> NDArray[np.bool_]:
        """Ask the module for the outcome of each node at its own value of its own feature."""
        observations = np.zeros((module.members, len(chosen), module.features), numbers)
        observations[:, rows, chosen] = values
        with torch.no_grad():
            asked = torch.from_numpy(observations).to(weights)
            scores = module.node_scores(asked if scaling is None else scaling(asked))
        return (scores[member, rows, rows] > 0).cpu().numpy()

    largest = np.finfo(numbers).max
    low, high = np.full(len(chosen), -largest, numbers), np.full(len(chosen), largest, numbers)
    at_low, at_high = is_true(low), is_true(high)
    # Scores rise or fall with the feature, also after rounding, so the outcome flips once: halve
    # the interval in the order of the floats until `first` and `last` are neighbours. Mostly it
    # flips within a few floats of bias / weight, which saves two thirds of the questions.
    first, last = _float_order(low), _float_order(high)
    with np.errstate(all="ignore"):
        quotient = _array(module.node_biases[member]) / _array(weights)[rows, chosen]
        if scaling is not None:
            shift, gain = scaling.member(member)
            quotient = quotient / gain[chosen] + shift[chosen]
        guess = np.nan_to_num(quotient, nan=0.0).astype(numbers).clip(low / 2, high / 2)
    for place in (_float_order(guess) - NEARBY, _float_order(guess) + NEARBY):
        same_as_low = is_true(_float_at(place)) == at_low
        first = np.where(same_as_low, np.maximum(first, place), first)
        last = np.where(same_as_low, last, np.minimum(last, place))
    while np.any(first + 1 < last):
        middle = (first >> 1) + (last >> 1) + (first & last & 1)
        same_as_low = is_true(_float_at(middle)) == at_low
        first = np.where(same_as_low, middle, first)
        last = np.where(same_as_low, last, middle)
    constant = at_low == at_high
    if module.active is not None:  # a node that does not decide is always true
        idle = ~module.active[member].cpu().numpy()
        constant, at_high = constant | idle, at_high | idle
    threshold = np.where(constant, np.where(at_high, -math.inf, math.inf), _float_at(first))
    return chosen, threshold, np.where(constant, True, at_high)


def _float_order(values: Floats) -> Integers:
    """Return integers in the order of the floats, neighbours differing by 1, both zeros 0."""
    bits = values.view(f"i{values.itemsize}")
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


def _float_at(order: Integers) -> Floats:
    """Return the floats at these places of the order."""
    bits = np.where(order < 0, np.iinfo(order.dtype).min - order, order)
    return bits.view(f"f{bits.itemsize}")


def _policy(
    features: Sequence[Feature],
    actions: Sequence[Action],
    leaves: list[Leaf],
    chosen: NDArray[np.intp],
    threshold: NDArray[np.float64],
    true_above: NDArray[np.bool_],
    name: str,
    squash: Squash,
    provenance: Provenance | None,
) -> Policy:
    inner = len(chosen)
    nodes: dict[int, Node] = {inner + i: leaf for i, leaf in enumerate(leaves)}
    for index in reversed(range(inner)):  # children first, so that a constant node can take theirs
        true, false = 2 * index + 1, 2 * index + 2
        below, above = (false, true) if true_above[index] else (true, false)
        if math.isinf(threshold[index]):
            nodes[index] = nodes[above if threshold[index] < 0 else below]
        else:
            nodes[index] = Split(int(chosen[index]), float(threshold[index]), below, above)
    return Policy(
        name,
        tuple(features),
        tuple(actions),
        renumbered(nodes),
        squash,
        provenance or Provenance(),
    )


def _leaves(module: TreeModule, member: int, scaling: Rescaling | None) -> list[Leaf]:
    config = module.config
    biases, log_std = _array(module.leaf_biases[member]), _array(module.log_std[member])
    chosen = np.zeros((config.leaves, module.actions, module.features), dtype=bool)
    weights = np.zeros(chosen.shape)
    if config.leaf != "static":
        weights = _array(module.leaf_weights[member])
        chosen[:] = True
    if config.leaf == "sparse":
        choice = module.leaf_choices()[:, member].sum(0)
        biases = _array((choice * module.leaf_biases[member]).sum(-1))  # the module's arithmetic
        chosen = _array(choice) > 0.5
    if scaling is not None and config.leaf != "static":
        weights, excess = folded(np.where(chosen, weights, 0.0), scaling, member)
        biases = biases - excess
    return [
        Leaf(
            tuple(
                Controller(
                    tuple((int(f), float(weights[i, a, f])) for f in np.flatnonzero(chosen[i, a])),
                    float(biases[i, a]),
                )
                for a in range(module.actions)
            ),
            tuple(log_std[i].tolist()),
        )
        for i in range(config.leaves)
    ]


def _array(tensor: torch.Tensor) -> NDArray[np.float64]:
    return tensor.detach().double().cpu().numpy()


# -- policy → module ----------------------------------------------------------------------------


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
