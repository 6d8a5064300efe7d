"""Policy → figure: blue boxes decide, red boxes act. Positions come from policy/layout.py."""

from collections.abc import Collection, Mapping
from functools import cache
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING

from icct.errors import ConfigError, MissingExtraError
from icct.policy import Leaf, Policy
from icct.policy.layout import (
    LINE,
    PADDING,
    Layout,
    NodeBox,
    answer_place,
    edge_points,
    layout,
    leads_above,
)
from icct.policy.usage import leaf_shares, share_colour, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
FONT_POINTS = 9.0
MARGIN = 1.0  # em around the tree
SPLIT_FILL, SPLIT_EDGE = "#dbe8f7", "#2f6db3"
LEAF_FILL, LEAF_EDGE = "#fbdedb", "#c23b33"
PATH_COLOUR = "#e08a00"
INK, QUIET, ANSWER = "#1d1d1f", "#8a8f98", "#5d6470"
PNG_DPI = 200


def draw(
    policy: Policy, *, path: Collection[int] = (), usage: Mapping[int, int] | None = None
) -> "Figure":
    """Return a matplotlib figure of the tree.

    Args:
        policy: The policy to draw.
        path: Nodes to highlight, such as `policy.path(observation)`.
        usage: Leaf → steps in which it acted, such as `Evaluation.leaf_visits`; busy leaves get a
            deeper red.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            'Drawing needs matplotlib. Install it with: pip install "icct[draw]"'
        ) from None
    shares = leaf_shares(policy, usage)
    notes = {leaf: share_text(share) for leaf, share in shares.items()}
    plan = layout(policy, notes=notes)
    inch = FONT_POINTS / 72
    width, height = plan.width + 2 * MARGIN, plan.height + 2 * MARGIN
    figure = Figure(figsize=(width * inch, height * inch), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-MARGIN, plan.width + MARGIN)
    axes.set_ylim(plan.height + MARGIN, -MARGIN)
    axes.axis("off")
    marked = set(path)
    boxes = {box.node: box for box in plan.boxes}
    for box in plan.boxes:
        if box.parent is not None:
            answer = "yes" if leads_above(policy, box) else "no"
            on_path = {box.parent, box.node} <= marked
            _edge(axes, plan, boxes[box.parent], box, answer, on_path)
    for box in plan.boxes:
        _box(axes, policy, box, box.node in marked, shares.get(box.node))
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


def _box(axes: "Axes", policy: Policy, box: NodeBox, marked: bool, share: float | None) -> None:
    from matplotlib.patches import FancyBboxPatch

    acts = isinstance(policy.nodes[box.node], Leaf)
    fill, edge = (LEAF_FILL, LEAF_EDGE) if acts else (SPLIT_FILL, SPLIT_EDGE)
    radius = 0.5
    axes.add_patch(
        FancyBboxPatch(
            (box.x + radius, box.y + radius),
            box.width - 2 * radius,
            box.height - 2 * radius,
            boxstyle=f"round,pad={radius},rounding_size={radius}",
            facecolor=fill if share is None else share_colour(share),
            edgecolor=PATH_COLOUR if marked else edge,
            linewidth=2.2 if marked else 1.1,
            zorder=2,
        )
    )
    noted = share is not None
    for row, line in enumerate(box.lines):
        note = noted and row == 0
        name = not acts and row == 0
        axes.text(
            box.x + PADDING if acts else box.centre[0],
            box.y + PADDING + (row + 0.52) * LINE,
            _drawable(line),
            ha="left" if acts else "center",
            va="center",
            fontsize=FONT_POINTS * (0.85 if note else 1.0),
            fontweight="bold" if name else "normal",
            fontstyle="italic" if note else "normal",
            color=INK,
            parse_math=False,
            zorder=3,
        )


def _edge(
    axes: "Axes", plan: Layout, parent: NodeBox, child: NodeBox, answer: str, marked: bool
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    colour = PATH_COLOUR if marked else QUIET
    curve = Path(edge_points(plan, parent, child), [Path.MOVETO, *[Path.CURVE4] * 3])
    axes.add_patch(
        PathPatch(curve, fill=False, edgecolor=colour, linewidth=2.4 if marked else 1.1, zorder=1)
    )
    (x, y), align = answer_place(plan, parent, child)
    axes.text(
        x,
        y,
        answer,
        ha={"start": "left", "end": "right"}[align],
        va="center",
        fontsize=FONT_POINTS * 0.8,
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
