"""Policy → what the page knows of it: physical units, the tree as a picture, how nodes are reached.

The numbers are for showing. What acts, and which path is lit, comes from the policy itself.
"""

from typing import Any

from icct.policy import Policy
from icct.policy.layout import Layout, layout
from icct.policy.reach import unreached
from icct.policy.svg import tree_svg
from icct.policy.units import in_physical_units
from icct.view.facts import policy_facts
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


def page_layout(policy: Policy) -> Layout:
    """Return where the boxes stand; leaves that would be too small to read only say their name.

    Their equations stand beside the tree anyway.
    """
    plan = layout(policy, "right")
    if min(PANEL[0] / plan.width, PANEL[1] / plan.height) >= LEGIBLE:
        return plan
    return layout(policy, "right", captions={leaf: f"leaf {leaf}" for leaf in policy.leaves})
