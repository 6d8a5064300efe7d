"""Policy → boxes with positions, shared by the drawing, the report and the figure exporters.

Lengths are in em, the size of the font; y grows downwards. No two boxes touch: every leaf has a
band of its own, and a split stands inside the bands of the leaves it leads to. As in `icct show`,
the side where the answer is yes, `below`, comes first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from icct.policy.caption import node_lines, text_width
from icct.policy.parts import Split

if TYPE_CHECKING:
    from icct.policy.policy import Policy

Direction = Literal["down", "right"]
Kind = Literal["split", "leaf", "folded"]
Point = tuple[float, float]
Size = tuple[float, float]  # width, height

LINE = 1.3  # height of a line of text
BOLD = 1.12  # how much wider bold letters are, as in the names of features
PADDING = 0.55  # between a box and its text
TAG = 1.1  # height of the tag with a node's number, on the upper edge of its box
BAND_GAP = {"down": 1.4, "right": 1.1}  # between neighbouring leaves
LEVEL_GAP = {"down": 3.2, "right": 2.8}  # between a split and its children, for the edges
CLEARANCE = 1.1  # between boxes of one column
PAGE = (54.0, 74.0)  # 7 by 9.5 inches in letters of 9 points, without margins
SMALLEST = 6 / 9  # letters of 6 points can be read
CHARACTERS = {"down": (26,), "right": (32, 44, 60, 84)}  # of an equation's line, as they fit
LINES = (6, 4, 3, 2, 1)  # of an equation, as they fit
LEAST = 52  # characters of an equation: its name, a term or two, and how many are left out


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
    kind: Kind

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the box."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def tag(self) -> tuple[float, float, float]:
        """x, y and width of the tag with the node's number."""
        return self.x + 0.4, self.y - 0.75, 0.6 + 0.5 * len(str(self.node))


@dataclass(frozen=True)
class Layout:
    """The boxes of a policy, parents before children, inside (0, 0) to (width, height)."""

    width: float
    height: float
    direction: Direction
    boxes: tuple[NodeBox, ...]


@dataclass(frozen=True)
class Words:
    """What is written in the boxes, beside the questions and equations themselves."""

    notes: Mapping[int, str]
    captions: Mapping[int, str]
    folded: Mapping[int, str]


def layout(
    policy: "Policy",
    direction: Direction | None = None,
    notes: Mapping[int, str] | None = None,
    captions: Mapping[int, str] | None = None,
    folded: Mapping[int, str] | None = None,
) -> Layout:
    """Return where every node of a policy is drawn, and the lines inside it.

    Args:
        policy: The policy to lay out.
        direction: Where the tree grows; by default, and with it the length of lines, so that the
            letters can be read when it is scaled to a page.
        notes: A first line for some nodes, such as how often a leaf is used.
        captions: One line in place of what is written in some nodes otherwise.
        folded: One line in place of a node and all below it, see `reach.folds`.

    >>> from icct.zoo import zoo_policy
    >>> found = layout(zoo_policy("ring-cruiser"))
    >>> found.direction, found.boxes[0].lines
    ('down', ('speed_ego', '≤ 3.00 m/s'))
    """
    ways: tuple[Direction, ...] = ("down", "right") if direction is None else (direction,)
    words = Words(notes or {}, captions or {}, folded or {})
    tree = _Drawn.of(policy, words.folded)
    best: list[Layout] = []
    for most_lines in LINES:
        plans = [
            _laid_out(policy, tree, way, (characters, most_lines), words)
            for way in ways
            for characters in CHARACTERS[way]
            if most_lines * characters >= LEAST
        ]
        best += [max(plans, key=_legible)] if plans else []
        if _legible(best[-1])[1] >= SMALLEST:  # the most lines with which it fits a page
            return best[-1]
    return best[0]


def _legible(plan: Layout) -> tuple[float, float]:
    """Return how well letters can be read at a page's width, then on a whole page."""
    wide, whole = PAGE[0] / plan.width, min(PAGE[0] / plan.width, PAGE[1] / plan.height)
    return min(wide, SMALLEST), min(whole, 1.0)


@dataclass(frozen=True)
class _Drawn:
    """The part of a tree that is drawn: levels, children and parents of what is not folded."""

    levels: tuple[tuple[int, int], ...]  # (depth, node), parents before their children
    children: Mapping[int, tuple[int, int]]  # of a split: (below, above)
    parents: Mapping[int, int]

    @classmethod
    def of(cls, policy: "Policy", folded: Mapping[int, str]) -> "_Drawn":
        levels: list[tuple[int, int]] = []
        children: dict[int, tuple[int, int]] = {}
        parents: dict[int, int] = {}
        waiting = [(0, 0)]
        while waiting:
            level, index = waiting.pop()
            levels.append((level, index))
            node = policy.nodes[index]
            if isinstance(node, Split) and index not in folded:
                children[index] = node.below, node.above
                parents |= {node.below: index, node.above: index}
                waiting += [(level + 1, node.above), (level + 1, node.below)]
        return cls(tuple(levels), children, parents)


def _laid_out(
    policy: "Policy", tree: _Drawn, direction: Direction, fit: tuple[int, int], words: Words
) -> Layout:
    lines = {index: _lines(policy, index, fit, words) for _, index in tree.levels}
    sizes = _sizes(tree, lines, direction)
    middles = _middles(tree, sizes, direction)
    if direction == "down":
        tops = _tops(tree, sizes)
        corner = {index: (middles[index] - sizes[index][0] / 2, tops[index]) for index in tops}
    else:
        lefts = _lefts(tree, sizes, middles)
        corner = {index: (lefts[index], middles[index] - sizes[index][1] / 2) for index in lefts}
    boxes = tuple(
        NodeBox(
            index,
            *corner[index],
            *sizes[index],
            lines[index],
            tree.parents.get(index),
            "folded" if index in words.folded else "split" if index in tree.children else "leaf",
        )
        for _, index in tree.levels
    )
    width = max(box.x + box.width for box in boxes)
    height = max(box.y + box.height for box in boxes)
    return Layout(width, height, direction, boxes)


def _lines(policy: "Policy", index: int, fit: tuple[int, int], words: Words) -> tuple[str, ...]:
    if index in words.folded:
        return (words.folded[index],)
    note = (words.notes[index],) if index in words.notes else ()
    if index in words.captions:
        return (*note, words.captions[index])
    return (*note, *node_lines(policy, policy.nodes[index], *fit))


def _sizes(
    tree: _Drawn, lines: Mapping[int, tuple[str, ...]], direction: Direction
) -> dict[int, Size]:
    """Return (width, height) of every box; the splits of one level are equally wide."""
    sizes = {}
    for index, found in lines.items():
        widths = [text_width(line) for line in found]
        if index in tree.children:
            widths[0] *= BOLD
        sizes[index] = max(widths) + 2 * PADDING, LINE * len(found) + 2 * PADDING
    if direction == "right":
        widest: dict[int, float] = {}
        splits = [(level, index) for level, index in tree.levels if index in tree.children]
        for level, index in splits:
            widest[level] = max(widest.get(level, 0.0), sizes[index][0])
        for level, index in splits:
            sizes[index] = widest[level], sizes[index][1]
    return sizes


def _middles(tree: _Drawn, sizes: Mapping[int, Size], direction: Direction) -> dict[int, float]:
    """Return the middle of every box across the direction of growth; below comes first."""
    across, gap = (0 if direction == "down" else 1), BAND_GAP[direction]
    order = [index for _, index in tree.levels]
    own = {index: sizes[index][across] + gap for index in order}
    band: dict[int, float] = {}  # how long the band of a node is
    for index in reversed(order):
        inside = sum(band[child] for child in tree.children.get(index, ()))
        band[index] = max(own[index], inside)
    start = {0: -gap / 2}
    for index in order:
        if index in tree.children:
            below, above = tree.children[index]
            start[below] = start[index] + (band[index] - band[below] - band[above]) / 2
            start[above] = start[below] + band[below]
    middle: dict[int, float] = {}
    for index in reversed(order):
        nearest = start[index] + own[index] / 2
        farthest = start[index] + band[index] - own[index] / 2
        wanted = (nearest + farthest) / 2
        if index in tree.children:
            wanted = sum(middle[child] for child in tree.children[index]) / 2
        middle[index] = min(max(wanted, nearest), farthest)
    return middle


def _tops(tree: _Drawn, sizes: Mapping[int, Size]) -> dict[int, float]:
    """Return y of every box of a tree that grows down: one row for each level."""
    splits = [sizes[index][1] for index in tree.children]
    row = max(splits, default=0.0) + LEVEL_GAP["down"]
    return {index: level * row for level, index in tree.levels}


def _lefts(
    tree: _Drawn, sizes: Mapping[int, Size], middles: Mapping[int, float]
) -> dict[int, float]:
    """Return x of every box of a tree that grows to the right.

    A box begins right of the middle of its parent; right of the whole of every ancestor that stands
    beside it. The splits of one level begin together.
    """
    left: dict[int, float] = {}
    levels: dict[int, list[int]] = {}
    for level, index in tree.levels:
        levels.setdefault(level, []).append(index)
    for _, indexes in sorted(levels.items()):
        for index in indexes:
            left[index] = 0.0
            ancestor, share = tree.parents.get(index), 0.5
            while ancestor is not None:
                apart = abs(middles[index] - middles[ancestor])
                clear = (sizes[index][1] + sizes[ancestor][1]) / 2 + CLEARANCE
                part = 1.0 if apart < clear else share
                end = left[ancestor] + part * sizes[ancestor][0] + LEVEL_GAP["right"]
                left[index] = max(left[index], end)
                ancestor, share = tree.parents.get(ancestor), 0.0
        splits = [index for index in indexes if index in tree.children]
        for index in splits:
            left[index] = max(left[other] for other in splits)
    return left
