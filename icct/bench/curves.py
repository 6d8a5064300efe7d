"""Records → figures of learning curves: a panel for each task, a line for each method.

Returns scatter, so a line is the mean over seeds of a running mean; the band is its standard
error. The mark at the right edge is the paper's number for the method of that colour. A method
that was run by an earlier preset alone is drawn by it, and said to be. Gumbel variants are dashed
lines in their method's colour.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
KINDS = {  # key of a record → what it shows
    "curve": "return, mean of 5 episodes",
    "training_curve": "return of training episodes, with exploration",
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
    columns = min(len(tasks), 2)
    height = -(-len(tasks) // columns)
    figure = Figure(figsize=(6.8 * columns, 3.2 * height), layout="constrained")
    for place, task in enumerate(tasks):
        panel = figure.add_subplot(height, columns, place + 1)
        _draw_task(panel, [row for row in lines if row.task == task], kind)
    with replacing(output) as (temporary,):
        figure.savefig(temporary, format="png", dpi=110)
    return True


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


def _draw_task(panel: "Axes", rows: Sequence[Row], kind: str) -> None:
    heights: list[float] = []  # what the panel must show
    for row in rows:
        steps, lines = _smoothed([record[kind] for record in row.records])
        label = f"{row.method}, earlier preset" if row.changed else row.method
        colour = COLOURS.get(row.method.removesuffix(GUMBEL))
        style = "--" if row.method.endswith(GUMBEL) else "-"
        middle, error = lines.mean(0), _standard_error(lines)
        (line,) = panel.plot(
            steps, middle, label=label, color=colour, linewidth=1.4, linestyle=style
        )
        panel.fill_between(
            steps, middle - error, middle + error, color=line.get_color(), alpha=0.15, linewidth=0
        )
        heights += [float(np.quantile(lines, 0.1)), float((middle + error).max())]
        if (row.task, row.method) in PAPER_RESULTS and kind == "curve":
            published = PAPER_RESULTS[row.task, row.method][0]
            panel.axhline(
                published, xmin=0.95, color=line.get_color(), linewidth=1.8, linestyle=style
            )
            heights.append(published)
    lowest, highest = min(heights), max(heights)
    margin = 0.05 * (highest - lowest) or 1.0
    if lowest < -DEEP * abs(highest):  # some fall so far that the others would be one line
        panel.set_yscale("symlog", linthresh=abs(highest))
        margin = 0.1 * abs(highest)
    panel.set_ylim(lowest - margin, highest + margin)  # not the fall at the start
    panel.set_title(rows[0].task, fontsize=10)
    panel.set_xlabel("steps", fontsize=8)
    panel.set_ylabel(KINDS[kind], fontsize=8)
    panel.tick_params(labelsize=8)
    panel.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


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
