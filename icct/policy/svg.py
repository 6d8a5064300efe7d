"""Policy → SVG of the tree: complete without a script, coloured by whoever shows it.

The report, the live view and notebooks put it on their pages. Classes say what a box is: `split`,
`leaf`, `folded`, and `unreached` where nobody gets.
"""

from collections.abc import Collection, Mapping
from html import escape
from typing import TYPE_CHECKING

from icct.policy.edges import answer, answer_place, edge_points
from icct.policy.layout import LINE, PADDING, TAG, Layout, NodeBox, layout
from icct.policy.reach import folds, unreached

if TYPE_CHECKING:
    from icct.policy.policy import Policy

EM = 14  # units of the picture in one em
MARGIN = 0.8  # em around the tree
# As in tree.css, for pages that do not have it.
ALONE = """
.icct-tree { background: #fff; max-width: 100%; font: 14px Helvetica, Arial, sans-serif; }
.icct-tree .node rect { stroke: #2f6db3; fill: #dbe8f7; }
.icct-tree .leaf rect { stroke: #c23b33; fill: #fbdedb; }
.icct-tree .unreached rect { stroke: #a9aeb6; fill: #f3f4f6; }
.icct-tree text { fill: #1d1d1f; }
.icct-tree .unreached text, .icct-tree .answer { fill: #5d6470; }
.icct-tree .split > text { text-anchor: middle; }
.icct-tree .split .name { font-weight: bold; }
.icct-tree .node .tag rect { fill: #fff; }
.icct-tree .tag text { text-anchor: middle; font-size: 10px; }
.icct-tree .edge { fill: none; stroke: #8a8f98; stroke-width: 1.4; }
.icct-tree .answer { font-size: 11px; }
"""


def tree_image(policy: "Policy") -> str:
    """Return an SVG that stands alone; branches that no observation reaches are folded.

    >>> from icct.zoo import zoo_policy
    >>> tree_image(zoo_policy("ring-cruiser")).startswith("<svg")
    True
    """
    away = unreached(policy)
    plan = layout(policy, folded=folds(policy, away))
    drawn = tree_svg(policy, plan, unreached=away)
    start = drawn.index(">") + 1
    head = drawn[:start].replace('class="tree"', 'class="icct-tree"')
    size = f' xmlns="http://www.w3.org/2000/svg" width="{em(plan.width + 2 * MARGIN)}">'
    return f"{head[:-1]}{size}<style>{ALONE}</style>{drawn[start:]}"


def tree_svg(
    policy: "Policy",
    plan: Layout,
    shares: Mapping[int, float] | None = None,
    regions: Mapping[int, str] | None = None,
    unreached: Collection[int] = (),
) -> str:
    """Return the tree as a plan places it.

    Args:
        policy: The policy.
        plan: Where its boxes stand.
        shares: Leaf → how often it acts; a deeper red.
        regions: Node → a sentence on which observations reach it.
        unreached: Nodes that are grey, since nobody gets there.
    """
    boxes = {box.node: box for box in plan.boxes}
    edges = "".join(
        _edge(policy, plan, boxes[box.parent], box) for box in plan.boxes if box.parent is not None
    )
    nodes = "".join(
        _node(box, (shares or {}).get(box.node), (regions or {}).get(box.node), unreached)
        for box in plan.boxes
    )
    width, height = em(plan.width + 2 * MARGIN), em(plan.height + 2 * MARGIN)
    return (
        f'<svg class="tree" viewBox="{em(-MARGIN)} {em(-MARGIN)} {width} {height}" '
        f'style="--natural:{width}px" role="img" aria-label="The tree of the policy">'
        f"{edges}{nodes}</svg>"
    )


def em(value: float) -> str:
    """Return a length in em in the units of the picture."""
    return f"{value * EM:.1f}"


def _edge(policy: "Policy", plan: Layout, parent: NodeBox, child: NodeBox) -> str:
    start, first, second, end = (f"{em(x)} {em(y)}" for x, y in edge_points(plan, parent, child))
    (x, y), align = answer_place(plan, parent, child)
    return (
        f'<path class="edge" data-child="{child.node}" d="M{start}C{first} {second} {end}"/>'
        f'<text class="answer" data-child="{child.node}" text-anchor="{align}" '
        f'x="{em(x)}" y="{em(y + 0.25)}">{answer(policy, child)}</text>'
    )


def _node(box: NodeBox, share: float | None, region: str | None, unreached: Collection[int]) -> str:
    split = box.kind == "split"
    classes = f"node {box.kind}{' unreached' if box.node in unreached else ''}"
    role = ' role="button" aria-expanded="true"' if split else ""
    shade = "" if share is None else f' class="busy" style="fill-opacity:{share**0.5:.3f}"'
    texts = []
    for row, line in enumerate(box.lines):
        x, y = (box.width / 2 if split else PADDING), PADDING + (row + 0.78) * LINE
        indent = len(line) - len(line.lstrip())
        style = ("name" if split else "note" if share is not None else "") if row == 0 else ""
        texts.append(
            f'<text class="{style}" x="{em(x + 0.4 * indent)}" y="{em(y)}">'
            f"{escape(line.strip())}</text>"
        )
    size = f'width="{em(box.width)}" height="{em(box.height)}" rx="6"'
    more = f'<text class="more" x="{em(box.width + 0.5)}" y="{em(box.height / 2 + 0.3)}"></text>'
    return (
        f'<g class="{classes}" data-node="{box.node}" tabindex="0"{role} '
        f'transform="translate({em(box.x)} {em(box.y)})">'
        f"<title>{escape(region or f'node {box.node}')}</title>"
        f"<rect {size}/>{f'<rect {size}{shade}/>' if shade else ''}{''.join(texts)}{_tag(box)}"
        f"{more if split else ''}</g>"
    )


def _tag(box: NodeBox) -> str:
    """Return the tag with the number of a node, which `icct edit` takes."""
    x, y, width = box.tag
    left, top = x - box.x, y - box.y
    return (
        f'<g class="tag"><rect x="{em(left)}" y="{em(top)}" width="{em(width)}" '
        f'height="{em(TAG)}" rx="7"/><text x="{em(left + width / 2)}" y="{em(top + 0.8)}">'
        f"{box.node}</text></g>"
    )
