"""Records → figures of learning curves: a row for each task, a column for each family of methods.

Returns scatter, so a line is the mean over seeds of a running mean; the band is its standard
error. The panels of a task share their axes. The mark at the right edge is the paper's number for
the method of that colour. A method that was run by an earlier preset alone is dotted, Gumbel
variants are dashed lines in their method's colour.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icct.bench.colours import COLOURS
from icct.bench.evidence import Row, chosen
from icct.bench.sizes import CRISP, GUMBEL
from icct.bench.tables import PAPER_RESULTS, TABLE1, tasks_in_order
from icct.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMOOTHED_OVER = 9  # points of a curve
DEEP = 5  # so many times the best return below 0, returns have a logarithmic axis there
SPARSE, FULL, NETWORKS = "constants and sparse rules", "rules of all features", "networks"
OTHERWISE = "dotted: other options than the preset's"
KINDS = {  # key of a record → what it shows
    "curve": "mean of 5 episodes",
    "training_curve": "return while exploring",
}


def draw_curves(rows: Sequence[Row], output: Path, kind: str = "curve") -> bool:
    """Write the figure of one kind of learning curve; return whether there was something to draw.

    Lines are of evaluations (`curve`), or of the training episodes themselves (`training_curve`),
    which the paper shows and records have since they keep them.
    """
    from matplotlib.figure import Figure

    lines = _lines(rows, kind)
    tasks = tasks_in_order(row.task for row in lines)
    if not tasks:
        return False
    there = {_family(row.method) for row in lines}
    families = [family for family in (SPARSE, FULL, NETWORKS) if family in there]
    size = (4.4 * len(families) + 0.4, 2.4 * len(tasks) + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(tasks), len(families), sharex="row", sharey="row", squeeze=False)
    for task, beside in zip(tasks, panels, strict=True):
        own = [row for row in lines if row.task == task]
        _set_axes(beside[0], own, kind)
        for family, panel in zip(families, beside, strict=True):
            _draw_lines(panel, [row for row in own if _family(row.method) == family], kind)
        beside[0].set_ylabel(f"{task}\n{KINDS[kind]}", fontsize=8)
    for family, above, below in zip(families, panels[0], panels[-1], strict=True):
        above.set_title(family, fontsize=10)
        below.set_xlabel("steps", fontsize=8)
        _add_legend(below, [row for row in lines if _family(row.method) == family])
    with replacing(output) as (temporary,):
        figure.savefig(temporary, format="png", dpi=110)
    return True


def _family(method: str) -> str:
    """Return the column that a method is drawn in."""
    if method.startswith("mlp"):
        return NETWORKS
    return FULL if method.startswith(("icct-l1", "icct-complete", "cddt")) else SPARSE


def _lines(rows: Sequence[Row], kind: str) -> list[Row]:
    """Return the row to draw for each task and method that has curves of a kind."""
    able = [
        row
        for row in rows
        if row.recipe != "icct"
        and not row.method.endswith(CRISP)
        and all(record.get(kind) for record in row.records)
    ]
    keys = dict.fromkeys((row.task, row.method, row.recipe) for row in able)
    found = [chosen(able, *key) for key in keys]
    order = {method: number for number, method in enumerate(TABLE1)}
    shown = [row for row in found if row is not None]
    return sorted(shown, key=lambda row: (order.get(row.method, len(order)), row.method))


def _set_axes(panel: "Axes", rows: Sequence[Row], kind: str) -> None:
    """Set the axes that all panels of a task share: not the fall at the start."""
    heights: list[float] = []  # what the panels must show
    for row in rows:
        _, lines = _smoothed([record[kind] for record in row.records])
        top = float((lines.mean(0) + _standard_error(lines)).max())
        heights += [float(np.quantile(lines, 0.1)), top]
        if kind == "curve" and (row.task, row.method) in PAPER_RESULTS:
            heights.append(PAPER_RESULTS[row.task, row.method][0])
    lowest, highest = min(heights), max(heights)
    margin = 0.05 * (highest - lowest) or 1.0
    if lowest < -DEEP * abs(highest):  # some fall so far that the others would be one line
        panel.set_yscale("symlog", linthresh=abs(highest))
        margin = 0.1 * abs(highest)
    panel.set_ylim(lowest - margin, highest + margin)


def _draw_lines(panel: "Axes", rows: Sequence[Row], kind: str) -> None:
    from matplotlib.ticker import EngFormatter

    for row in rows:
        steps, lines = _smoothed([record[kind] for record in row.records])
        middle, error = lines.mean(0), _standard_error(lines)
        (line,) = panel.plot(steps, middle, linewidth=1.4, **_look(row))
        colour = line.get_color()
        panel.fill_between(
            steps, middle - error, middle + error, color=colour, alpha=0.15, linewidth=0
        )
        if kind == "curve" and (row.task, row.method) in PAPER_RESULTS:
            published = PAPER_RESULTS[row.task, row.method][0]
            solid = _look(row) | ({"linestyle": "-"} if row.changed else {})
            panel.axhline(published, xmin=0.95, linewidth=1.8, **solid)
    if not rows:
        panel.text(0.5, 0.5, "not run", transform=panel.transAxes, ha="center", color="#777777")
    panel.tick_params(labelsize=8)
    panel.xaxis.set_major_formatter(EngFormatter(sep=""))


def _look(row: Row) -> dict[str, Any]:
    """Return the colour and the dashes of a row's lines."""
    dashes = "--" if row.method.endswith(GUMBEL) else ":" if row.changed else "-"
    return {"color": COLOURS.get(row.method.removesuffix(GUMBEL)), "linestyle": dashes}


def _add_legend(panel: "Axes", rows: Sequence[Row]) -> None:
    """Name the lines of a column below its last panel."""
    from matplotlib.lines import Line2D

    looks = {row.method: _look(row) for row in sorted(rows, key=lambda row: not row.changed)}
    order = dict.fromkeys(row.method for row in rows)
    handles = [Line2D([], [], label=method, **looks[method]) for method in order]
    if any(row.changed for row in rows):
        handles.append(Line2D([], [], color="#777777", linestyle=":", label=OTHERWISE))
    panel.legend(
        handles=handles,
        fontsize=8,
        ncols=2,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.25),
        frameon=False,
    )


def _smoothed(
    curves: Sequence[Sequence[tuple[int, float]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the steps all curves share, and each curve's running mean over them."""
    shared = sorted(set.intersection(*({step for step, _ in curve} for curve in curves)))
    known = [dict(_pairs(curve)) for curve in curves]
    values = [[curve[step] for step in shared] for curve in known]
    width = min(SMOOTHED_OVER, len(shared))
    kernel = np.ones(width) / width
    lines = np.stack([np.convolve(row, kernel, mode="valid") for row in values])
    return np.array(shared[width - 1 :], dtype=np.float64), lines


def _pairs(curve: Sequence[Sequence[float]]) -> list[tuple[int, float]]:
    return [(int(step), float(value)) for step, value in curve]


def _standard_error(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard error over seeds, one line each; of a single seed it is 0."""
    seeds = len(lines)
    spread = lines.std(0, ddof=1) if seeds > 1 else np.zeros(lines.shape[1])
    return np.asarray(spread / seeds**0.5)
