"""TreeModule → Policy, exactly.

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
from icct.learn.module import TreeModule
from icct.learn.scaling import Rescaling, folded
from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance, Split
from icct.policy.edit import renumbered
from icct.policy.parts import Node, Squash

Floats = NDArray[np.floating]
Integers = NDArray[np.signedinteger]
NEARBY = 32  # floats either side of bias / weight where a threshold is looked for first


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
