"""Policy → plain values for a page: in physical units to be shown, and raw to act by."""

from collections.abc import Sequence
from typing import Any

from icct.policy import Action, Policy, Split
from icct.policy.caption import pretty
from icct.policy.units import in_physical_units

About = dict[str, Any]


def policy_facts(policy: Policy) -> About:
    """Return a policy in physical units, without a picture."""
    shown = in_physical_units(policy)
    return {
        "name": policy.name,
        "features": [
            {**_part(part), "scale": raw.scale, "origin": part.origin}
            for part, raw in zip(shown.features, policy.features, strict=True)
        ],
        "actions": _actions(shown.actions, policy),
        "squash": policy.squash,
        "used": list(policy.used_features),
        "nodes": [_node(shown, index) for index in range(len(shown.nodes))],
    }


def raw_facts(policy: Policy) -> About:
    """Return what it takes to act as the policy does, to the last digit but for tanh."""
    return {
        "squash": policy.squash,
        "actions": _actions(policy.actions, policy),
        "nodes": [_node(policy, index) for index in range(len(policy.nodes))],
    }


def _actions(actions: Sequence[Action], policy: Policy) -> list[About]:
    return [
        {
            **_part(part),
            "scale": raw.scale,
            **({"centre": part.centre, "half": part.half_range} if policy.squash == "tanh" else {}),
        }
        for part, raw in zip(actions, policy.actions, strict=True)
    ]


def _part(part: Any) -> About:
    finite = {name: value if abs(value) < 1e300 else None for name, value in _limits(part)}
    return {"name": part.name, "unit": pretty(part.unit), **finite}


def _limits(part: Any) -> tuple[tuple[str, float], tuple[str, float]]:
    return ("low", part.low), ("high", part.high)


def _node(policy: Policy, index: int) -> About:
    node = policy.nodes[index]
    if isinstance(node, Split):
        return {
            "feature": node.feature,
            "threshold": node.threshold,
            "below": node.below,
            "above": node.above,
        }
    return {"rules": [{"weights": rule.weights, "bias": rule.bias} for rule in node.controllers]}
