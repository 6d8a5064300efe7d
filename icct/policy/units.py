"""Policy → the same policy in physical units: `0.10 x 30 m/s` becomes `3.00 m/s`.

A unit such as `x 30 m/s` says what a number is to be multiplied by to get the quantity. Multiplied
in are thresholds, weights, bounds and limits, so that a person reads and edits metres per second.
What acts is always the original: the two agree but for rounding.
"""

import re
from dataclasses import dataclass, replace

from icct.policy.parts import Controller, Leaf, Node, Split
from icct.policy.policy import Policy

SCALED = re.compile(r"x ([0-9]+(?:\.[0-9]+)?) (.+)\Z")


def physical_unit(unit: str) -> tuple[float, str]:
    """Return what a number is to be multiplied by, and the unit that it then has.

    >>> physical_unit("x 30 m/s"), physical_unit("rad"), physical_unit("x lane 2")
    ((30.0, 'm/s'), (1.0, 'rad'), (1.0, 'x lane 2'))
    """
    found = SCALED.match(unit)
    if found is None or float(found[1]) == 0.0:
        return 1.0, unit
    return float(found[1]), found[2]


@dataclass(frozen=True)
class Scales:
    """What the numbers of a policy are multiplied by to be in physical units."""

    features: tuple[float, ...]
    actions: tuple[float, ...]
    squash: str

    def weight(self, feature: int, action: int) -> float:
        """Return what a weight is multiplied by."""
        return self.bias(action) / self.features[feature]

    def bias(self, action: int) -> float:
        """Return what a bias is multiplied by; what goes into a tanh has no unit."""
        return 1.0 if self.squash == "tanh" else self.actions[action]


def scales_of(policy: Policy) -> Scales:
    """Return the scales of a policy.

    >>> from icct.zoo import zoo_policy
    >>> set(scales_of(zoo_policy("ring-cruiser")).features)
    {30.0, 230.4}
    """
    return Scales(
        tuple(physical_unit(feature.unit)[0] for feature in policy.features),
        tuple(physical_unit(action.unit)[0] for action in policy.actions),
        policy.squash,
    )


def in_physical_units(policy: Policy) -> Policy:
    """Return the policy with every number in its physical unit.

    >>> from icct.policy.text import tree_text
    >>> from icct.zoo import zoo_policy
    >>> print(tree_text(in_physical_units(zoo_policy("ring-cruiser")), numbered=False))
    if speed_ego <= 3.00 m/s:
        acceleration = 1.00 m/s^2
    else:
        if speed_ego <= 3.90 m/s:
            acceleration = clip(-10.00 speed_ego + 35.00, -1.00, 1.00) m/s^2
        else:
            acceleration = -1.00 m/s^2
    """
    scales = scales_of(policy)
    return replace(
        policy,
        features=tuple(
            replace(f, unit=physical_unit(f.unit)[1], low=f.low * scale, high=f.high * scale)
            for f, scale in zip(policy.features, scales.features, strict=True)
        ),
        actions=tuple(
            replace(a, unit=physical_unit(a.unit)[1], low=a.low * scale, high=a.high * scale)
            for a, scale in zip(policy.actions, scales.actions, strict=True)
        ),
        nodes=tuple(_scaled(node, scales) for node in policy.nodes),
    )


def _scaled(node: Node, scales: Scales) -> Node:
    if isinstance(node, Split):
        return replace(node, threshold=node.threshold * scales.features[node.feature])
    rules = [
        Controller(
            tuple((f, weight * scales.weight(f, position)) for f, weight in rule.weights),
            rule.bias * scales.bias(position),
        )
        for position, rule in enumerate(node.controllers)
    ]
    return Leaf(tuple(rules), node.log_std)
