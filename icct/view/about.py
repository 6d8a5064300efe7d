"""Policy → what the page knows of it: physical units, the tree as a picture, how nodes are reached.

The numbers are for showing. What acts, and which path is lit, comes from the policy itself.
"""

from collections.abc import Sequence
from typing import Any

from icct.policy import Action, Policy, Split
from icct.policy.caption import pretty
from icct.policy.layout import Layout, layout
from icct.policy.reach import unreached
from icct.policy.svg import tree_svg
from icct.policy.units import in_physical_units
from icct.view.show import Show
from icct.view.tree import regions, tree_numbers

About = dict[str, Any]
PANEL = (44.0, 46.0)  # em of the panel that the tree is drawn in, at 1280 x 800
LEGIBLE = 0.72  # letters of 10 pixels


def show_about(show: Show) -> About:
    """Return what the page has to know before the first step."""
    return {"title": show.title, "step_s": show.step_s, "policies": [policy_about(show.policy)]}


def policy_about(policy: Policy) -> About:
    """Return a policy as the page shows it."""
    shown = in_physical_units(policy)
    plan = page_layout(shown)
    return {
        **policy_facts(policy),
        "tree": {
            "svg": tree_svg(shown, plan, {}, regions(shown), unreached(policy)),
            "numbers": tree_numbers(shown, plan),
        },
    }


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


def page_layout(policy: Policy) -> Layout:
    """Return where the boxes stand; leaves that would be too small to read only say their name.

    Their equations stand beside the tree anyway.
    """
    plan = layout(policy, "right")
    if min(PANEL[0] / plan.width, PANEL[1] / plan.height) >= LEGIBLE:
        return plan
    return layout(policy, "right", captions={leaf: f"leaf {leaf}" for leaf in policy.leaves})


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
