"""Rows → one figure of return against parameters: a panel for each task, a colour for each method.

Empty rings are the paper's best checkpoints, squares ours by its recipe, both chosen on what they
report; filled discs are ours by the recipe icct, on fresh episodes. A return far below the others
is marked at the lower edge.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from icct.bench.colours import COLOURS
from icct.bench.evidence import Row, chosen
from icct.bench.sizes import paper_size
from icct.bench.tables import ICCT_ROWS, PAPER_RESULTS, TABLE1, TASK_ORDER
from icct.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPREAD = 0.35  # how far below the paper's ICCT rows a panel reaches, of the best return's size
Point = tuple[float, float, str, str]  # parameters, return, colour, kind
MARKERS = {"paper": "o", "ours, the paper's recipe": "s", "ours, recipe icct": "o"}


def draw_scatter(rows: Sequence[Row], output: Path) -> None:
    """Write the figure."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(12.5, 7.4), layout="constrained")
    for place, task in enumerate(TASK_ORDER):
        _draw_task(figure.add_subplot(2, 3, place + 1), task, _points(rows, task))
    kinds = [
        Line2D([], [], marker=marker, linestyle="", label=kind, color="#444444", **_style(kind))
        for kind, marker in MARKERS.items()
    ]
    methods = [
        Line2D([], [], marker="o", linestyle="", label=method, color=COLOURS[method])
        for method in TABLE1
    ]
    figure.legend(
        handles=[*kinds, *methods], loc="outside lower center", ncols=6, fontsize=8, frameon=False
    )
    with replacing(output) as (temporary,):
        figure.savefig(temporary, format="png", dpi=110)


def _points(rows: Sequence[Row], task: str) -> list[Point]:
    points: list[Point] = []
    for method in TABLE1:
        size, colour = paper_size(task, method).parameters or 0, COLOURS[method]
        points.append((size, PAPER_RESULTS[task, method][0], colour, "paper"))
        plain, ours = (chosen(rows, task, method, recipe) for recipe in ("paper", "icct"))
        if plain is not None:
            height = mean(plain.checkpoints or plain.selected)
            points.append((mean(plain.parameters), height, colour, "ours, the paper's recipe"))
        if ours is not None:
            spot = mean(ours.parameters), mean(ours.selected)
            points.append((*spot, colour, "ours, recipe icct"))
    return points


def _draw_task(panel: "Axes", task: str, points: Sequence[Point]) -> None:
    top = max(height for _, height, *_ in points)
    rows = [PAPER_RESULTS[task, method][0] for method in ICCT_ROWS]
    span = max(top - min(rows), SPREAD * abs(top) / 5)
    floor = min(rows) - SPREAD * span
    for parameters, height, colour, kind in points:
        seen = max(height, floor)
        marker = MARKERS[kind] if seen == height else "v"
        panel.plot(parameters, seen, marker=marker, color=colour, linestyle="", **_style(kind))
    panel.set_xscale("log")
    panel.set_ylim(floor - 0.06 * span, top + 0.08 * span)
    panel.set_title(task, fontsize=10)
    panel.set_xlabel("parameters", fontsize=8)
    panel.set_ylabel("return", fontsize=8)
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.2)


def _style(kind: str) -> dict[str, Any]:
    hollow = {"fillstyle": "none", "markersize": 6, "alpha": 0.9}
    return {"markersize": 8} if kind == "ours, recipe icct" else hollow
