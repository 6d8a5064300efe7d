"""What joins the boxes of a layout: curves, and the answer that stands beside each."""

from typing import TYPE_CHECKING

from icct.policy.layout import Layout, NodeBox, Point
from icct.policy.parts import Split

if TYPE_CHECKING:
    from icct.policy.policy import Policy


def edge_points(plan: Layout, parent: NodeBox, child: NodeBox) -> tuple[Point, Point, Point, Point]:
    """Return the curve from a box to its child: its start, two control points and its end."""
    (from_x, from_y), (to_x, to_y) = parent.centre, child.centre
    if plan.direction == "down":
        start, end = (from_x, parent.y + parent.height), (to_x, child.y)
        halfway = (start[1] + end[1]) / 2
        return start, (from_x, halfway), (to_x, halfway), end
    end = (child.x, to_y)
    if child.x < parent.x + parent.width:  # the child stands over or under its parent
        corner = (from_x, to_y)
        return (
            (from_x, parent.y if to_y < from_y else parent.y + parent.height),
            corner,
            corner,
            end,
        )
    start = (parent.x + parent.width, from_y)
    halfway = (start[0] + end[0]) / 2
    return start, (halfway, from_y), (halfway, to_y), end


def answer_place(plan: Layout, parent: NodeBox, child: NodeBox) -> tuple[Point, str]:
    """Return where the edge's yes or no stands, and whether the text starts or ends there."""
    x, y = child.centre
    if plan.direction == "down":
        right = x > parent.centre[0]
        return (x + (0.4 if right else -0.4), child.y - 1.15), "start" if right else "end"
    return (child.x - 0.35, y + (-0.6 if y < parent.centre[1] else 0.65)), "end"


def answer(policy: "Policy", box: NodeBox) -> str:
    """Return the answer that leads to a box: yes where the feature is not above the threshold."""
    split = policy.nodes[box.parent] if box.parent is not None else None
    return "yes" if isinstance(split, Split) and split.below == box.node else "no"
