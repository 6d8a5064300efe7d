"""Policy → SVG of the tree, and the numbers with which the page folds and unfolds it.

The picture is complete without a script; static/tree.js only moves what stands here.
"""

from collections.abc import Mapping
from html import escape
from typing import Any

from icct.policy import Policy, Split
from icct.policy.caption import pretty
from icct.policy.layout import (
    BAND_GAP,
    CLEARANCE,
    LEVEL_GAP,
    LINE,
    PADDING,
    Layout,
    NodeBox,
    answer_place,
    edge_points,
    layout,
    leads_above,
)
from icct.policy.text import reached_when
from icct.policy.usage import share_colour, share_text

EM = 14  # units of the picture in one em


def tree_svg(
    policy: Policy, plan: Layout, shares: Mapping[int, float], regions: Mapping[int, str]
) -> str:
    """Return the tree; each node carries a sentence on which observations reach it."""
    boxes = {box.node: box for box in plan.boxes}
    edges = "".join(
        _edge(policy, plan, boxes[box.parent], box) for box in plan.boxes if box.parent is not None
    )
    nodes = "".join(
        _node(policy, box, shares.get(box.node), regions[box.node]) for box in plan.boxes
    )
    size = f"{_em(-0.5)} {_em(-0.5)} {_em(plan.width + 1)} {_em(plan.height + 1)}"
    return (
        f'<svg class="tree" viewBox="{size}" style="--natural:{_em(plan.width + 1)}px" role="img" '
        f'aria-label="The tree of the policy">{edges}{nodes}</svg>'
    )


def tree_numbers(policy: Policy, plan: Layout) -> dict[str, Any]:
    """Return what the page's script needs to place the boxes anew, ready for JSON."""
    boxes = {box.node: box for box in plan.boxes}
    nodes = []
    for index, node in enumerate(policy.nodes):
        box = boxes[index]
        children = [node.above, node.below] if isinstance(node, Split) else []
        nodes.append(
            {"width": box.width, "height": box.height, "parent": box.parent, "children": children}
        )
    gaps = {"em": EM, "band": BAND_GAP["right"], "level": LEVEL_GAP["right"], "clear": CLEARANCE}
    return {"nodes": nodes, **gaps}


def regions(policy: Policy) -> dict[int, str]:
    """Return node → which observations reach it, as a sentence."""
    return {
        index: f"{'Split' if isinstance(policy.nodes[index], Split) else 'Leaf'} {index} sees "
        + (f"observations with {pretty(words)}." if words else "every observation.")
        for index, words in reached_when(policy).items()
    }


def tree_layout(policy: Policy, shares: Mapping[int, float]) -> Layout:
    """Return the positions, with the use of each leaf as its first line."""
    notes = {leaf: share_text(share) for leaf, share in shares.items()}
    return layout(policy, "right", notes)


def _edge(policy: Policy, plan: Layout, parent: NodeBox, child: NodeBox) -> str:
    start, first, second, end = (f"{_em(x)} {_em(y)}" for x, y in edge_points(plan, parent, child))
    (x, y), _ = answer_place(plan, parent, child)
    answer = "yes" if leads_above(policy, child) else "no"
    return (
        f'<path class="edge" data-child="{child.node}" d="M{start}C{first} {second} {end}"/>'
        f'<text class="answer" data-child="{child.node}" x="{_em(x)}" y="{_em(y + 0.25)}">'
        f"{answer}</text>"
    )


def _node(policy: Policy, box: NodeBox, share: float | None, region: str) -> str:
    split = isinstance(policy.nodes[box.node], Split)
    kind = "split" if split else "leaf"
    role = ' role="button" aria-expanded="true"' if split else ""
    fill = "" if share is None else f' style="fill:{share_colour(share)}"'
    texts = []
    for row, line in enumerate(box.lines):
        x, y = (box.width / 2 if split else PADDING), PADDING + (row + 0.78) * LINE
        indent = len(line) - len(line.lstrip())
        style = ("name" if split else "note" if share is not None else "") if row == 0 else ""
        texts.append(
            f'<text class="{style}" x="{_em(x + 0.4 * indent)}" y="{_em(y)}">'
            f"{escape(line.strip())}</text>"
        )
    rect = f'<rect width="{_em(box.width)}" height="{_em(box.height)}" rx="6"{fill}/>'
    more = f'<text class="more" x="{_em(box.width + 0.5)}" y="{_em(box.height / 2 + 0.3)}"></text>'
    return (
        f'<g class="node {kind}" data-node="{box.node}" tabindex="0"{role} '
        f'transform="translate({_em(box.x)} {_em(box.y)})"><title>{escape(region)}</title>'
        f"{rect}{''.join(texts)}{more if split else ''}</g>"
    )


def _em(value: float) -> str:
    return f"{value * EM:.1f}"
