"""Policy → the numbers with which the page folds and unfolds the tree, and what it says of nodes.

The picture is policy/svg.py's and complete without a script; static/tree.js only moves it.
"""

from collections.abc import Collection, Mapping
from typing import Any

from icct.policy import Policy, Split
from icct.policy.caption import pretty
from icct.policy.layout import BAND_GAP, CLEARANCE, LEVEL_GAP, Layout, layout
from icct.policy.svg import EM, MARGIN
from icct.policy.text import reached_when
from icct.policy.usage import share_text


def tree_numbers(policy: Policy, plan: Layout, folded: Collection[int] = ()) -> dict[str, Any]:
    """Return what the page's script needs to place the boxes anew, ready for JSON.

    Args:
        policy: The policy.
        plan: The layout of its whole tree.
        folded: Nodes that are folded to begin with.
    """
    boxes = {box.node: box for box in plan.boxes}
    nodes = []
    for index, node in enumerate(policy.nodes):
        box = boxes[index]
        children = [node.below, node.above] if isinstance(node, Split) else []
        nodes.append(
            {"width": box.width, "height": box.height, "parent": box.parent, "children": children}
        )
    gaps = {"em": EM, "band": BAND_GAP["right"], "level": LEVEL_GAP["right"], "clear": CLEARANCE}
    return {"nodes": nodes, "folded": sorted(folded), "margin": MARGIN, **gaps}


def regions(policy: Policy) -> dict[int, str]:
    """Return node → which observations reach it, as a sentence."""
    return {
        index: f"{'Split' if isinstance(policy.nodes[index], Split) else 'Leaf'} {index} sees "
        + (f"observations with {pretty(words)}." if words else "every observation.")
        for index, words in reached_when(policy).items()
    }


def tree_layout(
    policy: Policy, shares: Mapping[int, float], unreached: Mapping[int, str] | None = None
) -> Layout:
    """Return the positions, with the use of each leaf as its first line.

    Leaves that nobody reaches only say so; their rules stand in the table of rules.
    """
    away = {leaf: why for leaf, why in (unreached or {}).items() if leaf in policy.leaves}
    notes = {leaf: share_text(share) for leaf, share in shares.items() if leaf not in away}
    captions = {leaf: f"{why} reaches it" for leaf, why in away.items()}
    return layout(policy, "right", notes, captions)
