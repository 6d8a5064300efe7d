"""Policy → the same policy in physical units: `0.10 x 30 m/s` becomes `3.00 m/s`.

A unit such as `x 30 m/s` says what a number is to be multiplied by to get the quantity. Multiplied
in are thresholds, weights, bounds and limits, so that a person reads and edits metres per second.
What acts is always the original: the two agree but for rounding.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from icct.policy.parts import Action, Controller, Leaf, Node, Split
from icct.policy.quantity import exact_scale

if TYPE_CHECKING:
    from icct.policy.policy import Policy

ONE = Fraction(1)


@dataclass(frozen=True)
class Scales:
    """What the numbers of a policy are multiplied by to be in physical units, exactly."""

    features: tuple[Fraction, ...]
    actions: tuple[Fraction, ...]
    squash: str

    def weight(self, feature: int, action: int) -> Fraction:
        """Return what a weight is multiplied by."""
        return self.bias(action) / self.features[feature]

    def bias(self, action: int) -> Fraction:
        """Return what a bias is multiplied by; what goes into a tanh has no unit."""
        return ONE if self.squash == "tanh" else self.actions[action]


def scales_of(policy: "Policy") -> Scales:
    """Return the scales of a policy.

    >>> from icct.zoo import zoo_policy
    >>> sorted(map(str, set(scales_of(zoo_policy("ring-cruiser")).features)))
    ['1152/5', '30']
    """
    return Scales(
        tuple(exact_scale(feature.unit)[0] for feature in policy.features),
        tuple(exact_scale(action.unit)[0] for action in policy.actions),
        policy.squash,
    )


def in_physical_units(policy: "Policy") -> "Policy":
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
            replace(f, unit=f.physical_unit, low=f.low * f.scale, high=f.high * f.scale)
            for f in policy.features
        ),
        actions=tuple(physical_action(action) for action in policy.actions),
        nodes=tuple(_scaled(node, scales) for node in policy.nodes),
    )


def physical_action(action: Action) -> Action:
    """Return an action with its limits in its physical unit."""
    low, high = action.low * action.scale, action.high * action.scale
    return replace(action, unit=action.physical_unit, low=low, high=high)


def _scaled(node: Node, scales: Scales) -> Node:
    if isinstance(node, Split):
        return replace(node, threshold=node.threshold * float(scales.features[node.feature]))
    rules = [
        Controller(
            tuple((f, weight * float(scales.weight(f, position))) for f, weight in rule.weights),
            rule.bias * float(scales.bias(position)),
        )
        for position, rule in enumerate(node.controllers)
    ]
    return Leaf(tuple(rules), node.log_std)
