"""Policy → figure: blue boxes decide, red boxes act, grey ones nobody reaches.

Positions come from policy/layout.py.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING

from icct.errors import ConfigError, MissingExtraError
from icct.policy import Policy
from icct.policy.edges import answer, answer_place, edge_points
from icct.policy.layout import LINE, PADDING, PAGE, SMALLEST, TAG, Layout, NodeBox, layout
from icct.policy.reach import folds, unreached
from icct.policy.usage import leaf_shares, share_colour, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
FONT_POINTS = 9.0
MARGIN = 1.0  # em around the tree
SPLIT_COLOURS = ("#dbe8f7", "#2f6db3")  # of the box and its edge
LEAF_COLOURS = ("#fbdedb", "#c23b33")
GREY_COLOURS = ("#f3f4f6", "#a9aeb6")
PATH_COLOUR = "#e08a00"
INK, QUIET, ANSWER = "#1d1d1f", "#8a8f98", "#5d6470"
PNG_DPI = 200


@dataclass(frozen=True)
class Marks:
    """What sets nodes apart in the figure, and how large its letters are."""

    path: Collection[int]
    shares: Mapping[int, float]
    unreached: Collection[int]
    points: float


def draw(
    policy: Policy,
    *,
    path: Collection[int] = (),
    usage: Mapping[int, int] | None = None,
    whole: bool = False,
) -> "Figure":
    """Return a matplotlib figure of the tree, no larger than a page while it can be read there.

    Args:
        policy: The policy to draw.
        path: Nodes to highlight, such as `policy.path(observation)`.
        usage: Leaf → steps in which it acted, such as `Evaluation.leaf_visits`; busy leaves get a
            deeper red.
        whole: Draw branches that nobody reaches too, in grey; otherwise each is one line.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            'Drawing needs matplotlib. Install it with: pip install "icct[draw]"'
        ) from None
    shares = leaf_shares(policy, usage)
    notes = {leaf: share_text(share) for leaf, share in shares.items()}
    away = unreached(policy, usage)
    plan = layout(policy, notes=notes, folded={} if whole else folds(policy, away, path))
    fitting = max(min(PAGE[0] / plan.width, PAGE[1] / plan.height, 1.0), SMALLEST)
    marks = Marks(set(path), shares, away, FONT_POINTS * fitting)
    inch = marks.points / 72
    width, height = plan.width + 2 * MARGIN, plan.height + 2 * MARGIN
    figure = Figure(figsize=(width * inch, height * inch), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-MARGIN, plan.width + MARGIN)
    axes.set_ylim(plan.height + MARGIN, -MARGIN)
    axes.axis("off")
    boxes = {box.node: box for box in plan.boxes}
    for box in plan.boxes:
        if box.parent is not None:
            _edge(axes, plan, boxes[box.parent], box, answer(policy, box), marks)
    for box in plan.boxes:
        _box(axes, box, marks)
        _tag(axes, box, marks)
    return figure


def write_figure(figure: "Figure", path: str) -> bytes:
    """Return the figure as a file's content, in the format that the path's suffix names."""
    import matplotlib

    kind = PurePath(path).suffix.lower()
    if kind not in FORMATS:
        raise ConfigError(f"{path}: expected a file that ends in {', '.join(FORMATS)}.")
    content = BytesIO()
    # The same policy gives the same bytes: no date, no random ids.
    extra = {"Date": None} if kind == ".svg" else {"CreationDate": None} if kind == ".pdf" else {}
    with matplotlib.rc_context({"svg.hashsalt": "icct", "pdf.fonttype": 42}):
        figure.savefig(content, format=kind[1:], dpi=PNG_DPI, metadata=extra)
    return content.getvalue()


def _colours(box: NodeBox, marks: Marks) -> tuple[str, str]:
    fill, edge = LEAF_COLOURS if box.kind == "leaf" else SPLIT_COLOURS
    if box.node in marks.unreached:
        fill, edge = GREY_COLOURS
    elif box.node in marks.shares:
        fill = share_colour(marks.shares[box.node])
    return fill, PATH_COLOUR if box.node in marks.path else edge


def _box(axes: "Axes", box: NodeBox, marks: Marks) -> None:
    fill, edge = _colours(box, marks)
    width = 2.2 if box.node in marks.path else 1.1
    _rounded(axes, (box.x, box.y, box.width, box.height), 0.5, fill, edge, width)
    centred, noted = box.kind == "split", box.kind == "leaf" and box.node in marks.shares
    for row, line in enumerate(box.lines):
        note = noted and row == 0
        axes.text(
            box.centre[0] if centred else box.x + PADDING,
            box.y + PADDING + (row + 0.52) * LINE,
            _drawable(line),
            ha="center" if centred else "left",
            va="center",
            fontsize=marks.points * (0.85 if note else 1.0),
            fontweight="bold" if centred and row == 0 else "normal",
            fontstyle="italic" if note else "normal",
            color=ANSWER if box.node in marks.unreached else INK,
            parse_math=False,
            zorder=3,
        )


def _tag(axes: "Axes", box: NodeBox, marks: Marks) -> None:
    """Draw the number of the node, which `icct edit` takes, on the upper edge of its box."""
    (x, y, width), (_, edge) = box.tag, _colours(box, marks)
    _rounded(axes, (x, y, width, TAG), TAG / 2 - 0.01, "white", edge, 0.8, zorder=4)
    axes.text(
        x + width / 2,
        y + TAG / 2,
        str(box.node),
        ha="center",
        va="center_baseline",
        fontsize=marks.points * 0.72,
        color=INK,
        zorder=5,
    )


def _rounded(
    axes: "Axes",
    area: tuple[float, float, float, float],
    radius: float,
    fill: str,
    edge: str,
    width: float,
    zorder: float = 2,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y, across, down = area
    axes.add_patch(
        FancyBboxPatch(
            (x + radius, y + radius),
            across - 2 * radius,
            down - 2 * radius,
            boxstyle=f"round,pad={radius},rounding_size={radius}",
            facecolor=fill,
            edgecolor=edge,
            linewidth=width,
            zorder=zorder,
        )
    )


def _edge(
    axes: "Axes", plan: Layout, parent: NodeBox, child: NodeBox, words: str, marks: Marks
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    marked = parent.node in marks.path and child.node in marks.path
    colour = PATH_COLOUR if marked else QUIET
    curve = Path(edge_points(plan, parent, child), [Path.MOVETO, *[Path.CURVE4] * 3])
    axes.add_patch(
        PathPatch(
            curve,
            fill=False,
            edgecolor=colour,
            linewidth=2.4 if marked else 1.1,
            linestyle=":" if child.node in marks.unreached else "-",
            zorder=1,
        )
    )
    (x, y), align = answer_place(plan, parent, child)
    axes.text(
        x,
        y,
        words,
        ha={"start": "left", "end": "right"}[align],
        va="center",
        fontsize=marks.points * 0.8,
        color=colour if marked else ANSWER,
        zorder=3,
    )


def _drawable(text: str) -> str:
    """Return the text with a box for letters that the font does not have."""
    return "".join(letter if ord(letter) in _known_letters() else "□" for letter in text)


@cache
def _known_letters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties())).get_charmap())
