"""Records → one figure of learning curves: a panel for each task, a line for each method.

Evaluations during training scatter, so a line is the mean over seeds of a running mean; the band is
its standard error. The mark at the right edge is the paper's number for the method of that colour.
A method that was run by an earlier preset alone is drawn by it, and said to be.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icct.bench.deviations import deviations
from icct.bench.tables import PAPER_RESULTS, tasks_in_order
from icct.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Record = dict[str, Any]
SMOOTHED_OVER = 9  # evaluations
COLOURS = {
    "icct-static": "#d9a400",
    "icct-1-feature": "#8c6bb1",
    "icct-2-feature": "#2166ac",
    "icct-3-feature": "#41ab5d",
    "icct-l1-sparse": "#f768a1",
    "icct-complete": "#b2182b",
    "cddt": "#01a5a5",
    "cddt-controllers": "#a65628",
    "mlp-lower": "#ff7f00",
    "mlp-upper": "#999999",
    "mlp-max": "#1a1a1a",
}


def draw_curves(records: Sequence[Record], output: Path) -> None:
    """Write the figure of the learning curves of all records."""
    from matplotlib.figure import Figure

    tasks = tasks_in_order(record["task"] for record in records)
    columns = min(len(tasks), 2) or 1
    rows = -(-len(tasks) // columns) or 1
    figure = Figure(figsize=(6.8 * columns, 3.2 * rows), layout="constrained")
    for place, task in enumerate(tasks):
        panel = figure.add_subplot(rows, columns, place + 1)
        _draw_task(panel, task, [record for record in records if record["task"] == task])
    with replacing(output) as (temporary,):
        figure.savefig(temporary, format="png", dpi=110)


def _draw_task(panel: "Axes", task: str, records: Sequence[Record]) -> None:
    heights: list[float] = []  # what the panel must show
    for method in sorted({record["method"] for record in records}):
        own = [record for record in records if record["method"] == method]
        present = [record for record in own if not deviations(record)]
        steps, lines = _smoothed([record["curve"] for record in present or own])
        label = method if present else f"{method}, earlier preset"
        colour = COLOURS.get(method)
        middle, error = lines.mean(0), _standard_error(lines)
        (line,) = panel.plot(steps, middle, label=label, color=colour, linewidth=1.4)
        panel.fill_between(
            steps, middle - error, middle + error, color=line.get_color(), alpha=0.15, linewidth=0
        )
        heights += [float(np.quantile(lines, 0.1)), float((middle + error).max())]
        if (task, method) in PAPER_RESULTS:
            published = PAPER_RESULTS[task, method][0]
            panel.axhline(published, xmin=0.95, color=line.get_color(), linewidth=1.8)
            heights.append(published)
    margin = 0.05 * (max(heights) - min(heights)) or 1.0
    panel.set_ylim(min(heights) - margin, max(heights) + margin)  # not the fall at the start
    panel.set_title(task, fontsize=10)
    panel.set_xlabel("steps", fontsize=8)
    panel.set_ylabel("return, mean of 5 episodes", fontsize=8)
    panel.tick_params(labelsize=8)
    panel.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _smoothed(
    curves: Sequence[Sequence[tuple[int, float]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the steps all curves share, and each curve's running mean over them."""
    length = min(len(curve) for curve in curves)
    table = np.array([curve[:length] for curve in curves], dtype=np.float64)
    width = min(SMOOTHED_OVER, length)
    kernel = np.ones(width) / width
    lines = np.stack([np.convolve(row, kernel, mode="valid") for row in table[:, :, 1]])
    return table[0, width - 1 :, 0], lines


def _standard_error(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard error over seeds, one line each; of a single seed it is 0."""
    seeds = len(lines)
    spread = lines.std(0, ddof=1) if seeds > 1 else np.zeros(lines.shape[1])
    return np.asarray(spread / seeds**0.5)
