"""Policy → boxes with positions, shared by the drawing, the report and the figure exporters.

Lengths are in em, the size of the font; y grows downwards. No two boxes overlap: every leaf has a
band of its own, and a split stands inside the bands of the leaves it leads to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from icct.policy.caption import node_lines, text_width
from icct.policy.parts import Split
from icct.policy.policy import Policy

Direction = Literal["down", "right"]
Point = tuple[float, float]
Size = tuple[float, float]  # width, height

LINE = 1.3  # height of a line of text
BOLD = 1.12  # how much wider bold letters are, as in the names of features
PADDING = 0.55  # between a box and its text
BAND_GAP = {"down": 1.4, "right": 0.7}  # between neighbouring leaves
LEVEL_GAP = {"down": 2.8, "right": 2.8}  # between a split and its children, for the edges
CLEARANCE = 0.7  # between boxes of one column
PAGE = (56.0, 76.0)  # 7 by 9.5 inches in letters of 9 points
SMALLEST = 6 / 9  # letters of 6 points can be read
CHARACTERS = {"down": (26,), "right": (32, 44, 60, 84)}  # of an equation's line, as they fit


@dataclass(frozen=True)
class NodeBox:
    """One node as a rectangle with lines of text; (x, y) is its upper left corner."""

    node: int
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    parent: int | None

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the box."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """The boxes of a policy, parents before children, inside (0, 0) to (width, height)."""

    width: float
    height: float
    direction: Direction
    boxes: tuple[NodeBox, ...]


def layout(
    policy: Policy,
    direction: Direction | None = None,
    notes: Mapping[int, str] | None = None,
    captions: Mapping[int, str] | None = None,
) -> Layout:
    """Return where every node of a policy is drawn, and the lines inside it.

    Args:
        policy: The policy to lay out.
        direction: Where the tree grows; by default, and with it the length of lines, so that the
            letters can be read when it is scaled to a page.
        notes: A first line for some nodes, such as how often a leaf is used.
        captions: One line in place of what is written in some nodes otherwise.

    >>> from icct.zoo import zoo_policy
    >>> found = layout(zoo_policy("ring-cruiser"))
    >>> found.direction, found.boxes[0].lines
    ('down', ('speed_ego', '> 0.10 × 30 m/s'))
    """
    ways: tuple[Direction, ...] = ("down", "right") if direction is None else (direction,)
    plans = (
        _laid_out(policy, way, characters, notes or {}, captions or {})
        for way in ways
        for characters in CHARACTERS[way]
    )
    return max(plans, key=_legible)


def _legible(plan: Layout) -> tuple[float, float]:
    """Return how well letters can be read at a page's width, then on a whole page."""
    wide, whole = PAGE[0] / plan.width, min(PAGE[0] / plan.width, PAGE[1] / plan.height)
    return min(wide, SMALLEST), min(whole, 1.0)


def _laid_out(
    policy: Policy,
    direction: Direction,
    characters: int,
    notes: Mapping[int, str],
    captions: Mapping[int, str],
) -> Layout:
    lines = {
        index: (
            *((notes[index],) if index in notes else ()),
            *((captions[index],) if index in captions else node_lines(policy, node, characters)),
        )
        for index, node in enumerate(policy.nodes)
    }
    sizes = _sizes(policy, lines, direction)
    middles = _middles(policy, sizes, direction)
    parents = {
        child: index
        for index, node in enumerate(policy.nodes)
        if isinstance(node, Split)
        for child in (node.below, node.above)
    }
    if direction == "down":
        tops = _tops(policy, sizes)
        corner = {index: (middles[index] - sizes[index][0] / 2, tops[index]) for index in tops}
    else:
        lefts = _lefts(policy, sizes, middles, parents)
        corner = {index: (lefts[index], middles[index] - sizes[index][1] / 2) for index in lefts}
    boxes = tuple(
        NodeBox(index, *corner[index], *sizes[index], lines[index], parents.get(index))
        for _, index in policy.levels()
    )
    width = max(box.x + box.width for box in boxes)
    height = max(box.y + box.height for box in boxes)
    return Layout(width, height, direction, boxes)


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
        return (x + (0.4 if right else -0.4), child.y - 0.75), "start" if right else "end"
    return (child.x - 0.35, y + (-0.6 if y < parent.centre[1] else 0.65)), "end"


def leads_above(policy: Policy, box: NodeBox) -> bool:
    """Return whether a box is reached from its parent's side above the threshold."""
    split = policy.nodes[box.parent] if box.parent is not None else None
    return isinstance(split, Split) and split.above == box.node


def _sizes(
    policy: Policy, lines: Mapping[int, tuple[str, ...]], direction: Direction
) -> dict[int, Size]:
    """Return (width, height) of every box; the splits of one level are equally wide."""
    sizes = {}
    for index, found in lines.items():
        widths = [text_width(line) for line in found]
        if isinstance(policy.nodes[index], Split):
            widths[0] *= BOLD
        sizes[index] = max(widths) + 2 * PADDING, LINE * len(found) + 2 * PADDING
    if direction == "right":
        widest: dict[int, float] = {}
        splits = [(level, i) for level, i in policy.levels() if isinstance(policy.nodes[i], Split)]
        for level, index in splits:
            widest[level] = max(widest.get(level, 0.0), sizes[index][0])
        for level, index in splits:
            sizes[index] = widest[level], sizes[index][1]
    return sizes


def _middles(policy: Policy, sizes: Mapping[int, Size], direction: Direction) -> dict[int, float]:
    """Return the middle of every box across the direction of growth."""
    across, gap = (0 if direction == "down" else 1), BAND_GAP[direction]
    order = [index for _, index in policy.levels()]
    own = {index: sizes[index][across] + gap for index in order}
    band: dict[int, float] = {}  # how long the band of a node is
    for index in reversed(order):
        node = policy.nodes[index]
        inside = band[node.below] + band[node.above] if isinstance(node, Split) else 0.0
        band[index] = max(own[index], inside)
    start = {0: -gap / 2}
    for index in order:
        node = policy.nodes[index]
        if isinstance(node, Split):
            # Above is on top when the tree grows to the right, and at the right when it grows down.
            first, second = node.above, node.below
            if direction == "down":
                first, second = second, first
            start[first] = start[index] + (band[index] - band[first] - band[second]) / 2
            start[second] = start[first] + band[first]
    middle: dict[int, float] = {}
    for index in reversed(order):
        node, nearest = policy.nodes[index], start[index] + own[index] / 2
        farthest = start[index] + band[index] - own[index] / 2
        wanted = (nearest + farthest) / 2
        if isinstance(node, Split):
            wanted = (middle[node.below] + middle[node.above]) / 2
        middle[index] = min(max(wanted, nearest), farthest)
    return middle


def _tops(policy: Policy, sizes: Mapping[int, Size]) -> dict[int, float]:
    """Return y of every box of a tree that grows down: one row for each level."""
    splits = [sizes[index][1] for index in policy.splits]
    row = max(splits, default=0.0) + LEVEL_GAP["down"]
    return {index: level * row for level, index in policy.levels()}


def _lefts(
    policy: Policy,
    sizes: Mapping[int, Size],
    middles: Mapping[int, float],
    parents: Mapping[int, int],
) -> dict[int, float]:
    """Return x of every box of a tree that grows to the right.

    A box begins right of the middle of its parent; right of the whole of every ancestor that stands
    beside it. The splits of one level begin together.
    """
    left: dict[int, float] = {}
    levels: dict[int, list[int]] = {}
    for level, index in policy.levels():
        levels.setdefault(level, []).append(index)
    for _, indexes in sorted(levels.items()):
        for index in indexes:
            left[index] = 0.0
            ancestor, share = parents.get(index), 0.5
            while ancestor is not None:
                apart = abs(middles[index] - middles[ancestor])
                clear = (sizes[index][1] + sizes[ancestor][1]) / 2 + CLEARANCE
                part = 1.0 if apart < clear else share
                end = left[ancestor] + part * sizes[ancestor][0] + LEVEL_GAP["right"]
                left[index] = max(left[index], end)
                ancestor, share = parents.get(ancestor), 0.0
        splits = [index for index in indexes if isinstance(policy.nodes[index], Split)]
        for index in splits:
            left[index] = max(left[other] for other in splits)
    return left
