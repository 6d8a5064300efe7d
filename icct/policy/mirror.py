"""Left and right swapped: the policy that does in a mirror what the original does.

A task that looks the same in a mirror deserves a policy that acts the same there; the difference
of a policy from its mirror image says how far it is from that.
"""

import math
from dataclasses import dataclass, replace

from icct.errors import PolicyError
from icct.policy.parts import Controller, Node, Split
from icct.policy.policy import Policy


@dataclass(frozen=True)
class Mirror:
    """What a mirror does to an observation and an action, by name; the rest stays as it is."""

    negated: tuple[str, ...]  # features and actions that change sign
    swapped: tuple[tuple[str, str], ...] = ()  # features that trade places


def mirrored(policy: Policy, mirror: Mirror) -> Policy:
    """Return the policy that sees and acts through the mirror.

    >>> from icct.policy import Action, Controller, Feature, Leaf, Policy
    >>> leaf = Leaf((Controller(((0, 2.0),), bias=1.0),))
    >>> policy = Policy("p", (Feature("angle", "rad"),), (Action("torque"),), (leaf,))
    >>> mirrored(policy, Mirror(negated=("angle", "torque"))).nodes[0].controllers[0]
    Controller(weights=((0, 2.0),), bias=-1.0)
    """
    source = {feature.name: feature.name for feature in policy.features}
    for one, other in mirror.swapped:
        source[one], source[other] = other, one
    seen = {
        index: (policy.feature_index(source[f.name]), -1.0 if f.name in mirror.negated else 1.0)
        for index, f in enumerate(policy.features)
    }
    signs = [-1.0 if action.name in mirror.negated else 1.0 for action in policy.actions]
    for action, sign in zip(policy.actions, signs, strict=True):
        if sign < 0 and action.low != -action.high:
            raise PolicyError(
                f"{policy.name}: {action.name} goes from {action.low:g} to {action.high:g}; only "
                "an action with limits alike on both sides can be mirrored."
            )

    def rule(controller: Controller, sign: float) -> Controller:
        weights = ((seen[f][0], sign * seen[f][1] * weight) for f, weight in controller.weights)
        return Controller(tuple(weights), sign * controller.bias)

    def node(old: Node) -> Node:
        if not isinstance(old, Split):
            rules = zip(old.controllers, signs, strict=True)
            return replace(old, controllers=tuple(rule(*pair) for pair in rules))
        feature, sign = seen[old.feature]
        if sign > 0:
            return replace(old, feature=feature)
        # -x > t says x < -t, which is not (x > the float before -t)
        before = math.nextafter(-old.threshold, -math.inf)
        return Split(feature, before, below=old.above, above=old.below)

    return replace(policy, nodes=tuple(map(node, policy.nodes))).noted("seen in a mirror")
