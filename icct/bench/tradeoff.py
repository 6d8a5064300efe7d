"""Rows → the trade-off of size and return on LunarLander: two figures with their Pareto fronts.

Over the features of a leaf's rule at 8 leaves, from none to all, and over 2 to 32 leaves at two
features; by both recipes, as far as they were run.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

from icct.bench.cells import (
    FEATURES,
    LEAVES,
    TRADEOFF,
    TRADEOFF_FEATURES,
    TRADEOFF_LEAVES,
    TRADEOFF_TASK,
    table1_leaves,
)
from icct.bench.evidence import Row, read_evidence
from icct.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SOLVED = 200  # what LunarLander's authors call a landing
RECIPES = {"paper": "#b2182b", "icct": "#2166ac"}
LABELS = {"paper": "the paper's recipe, best checkpoint", "icct": "recipe icct, fresh episodes"}
Spot = tuple[int, float, float]  # features or leaves, mean return, standard error


def tradeoff_rows(results: Path, rows: Sequence[Row]) -> dict[int, list[Row]]:
    """Return the rows of the task by the leaves that they were asked to have."""
    found: dict[int, list[Row]] = {leaves: [] for leaves in LEAVES}
    for row in rows:
        if row.task == TRADEOFF_TASK and row.method in FEATURES:
            found.setdefault(table1_leaves(row.task, row.method), []).append(row)
    for leaves in LEAVES:
        found[leaves] += read_evidence(results / TRADEOFF / f"{leaves}-leaves").rows
    return found


def over_features(found: dict[int, list[Row]], recipe: str) -> list[Spot]:
    """Return the return at 8 leaves with 0, 1, ... features, where it was run."""
    spots = [
        (number, _of(found[TRADEOFF_LEAVES], method, recipe))
        for number, method in enumerate(FEATURES)
    ]
    return [(number, *_mean(row)) for number, row in spots if row is not None]


def over_leaves(found: dict[int, list[Row]], recipe: str) -> list[Spot]:
    """Return the return with two features at 2, 4, ... leaves, where it was run."""
    spots = [(leaves, _of(found[leaves], TRADEOFF_FEATURES, recipe)) for leaves in LEAVES]
    return [(leaves, *_mean(row)) for leaves, row in spots if row is not None]


def _of(rows: Sequence[Row], method: str, recipe: str) -> Row | None:
    own = [row for row in rows if (row.method, row.recipe) == (method, recipe)]
    return max(own, key=lambda row: (row.seeds, -len(row.changed), row.changed), default=None)


def _mean(row: Row) -> tuple[float, float]:
    values = row.checkpoints or row.selected
    return mean(values), stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def pareto_front(spots: Sequence[Spot]) -> list[Spot]:
    """Return the spots that no smaller or equal one matches.

    >>> pareto_front([(0, 5.0, 0.0), (1, 4.0, 0.0), (2, 6.0, 0.0)])
    [(0, 5.0, 0.0), (2, 6.0, 0.0)]
    """
    front: list[Spot] = []
    for spot in sorted(spots):
        if not front or spot[1] > front[-1][1]:
            front.append(spot)
    return front


def draw_tradeoff(found: dict[int, list[Row]], output: Path) -> bool:
    """Write the figure; return whether there was something to draw."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    panels = (
        (f"{TRADEOFF_LEAVES} leaves", "features of a leaf's rule", over_features, FEATURES),
        ("2 features", "leaves", over_leaves, LEAVES),
    )
    drawn = False
    for place, (title, label, spots_of, ticks) in enumerate(panels):
        panel = figure.add_subplot(1, 2, place + 1)
        for recipe in RECIPES:
            spots = spots_of(found, recipe)
            drawn = drawn or bool(spots)
            _draw(panel, spots, recipe)
        panel.axhline(SOLVED, color="#777777", linewidth=0.8, linestyle=":")
        if ticks is LEAVES:
            panel.set_xscale("log", base=2)
            panel.set_xticks(LEAVES, [str(count) for count in LEAVES])
        else:
            panel.set_xticks(range(len(FEATURES)), [str(n) for n in range(len(FEATURES))])
        panel.set_title(f"{TRADEOFF_TASK}, {title}", fontsize=10)
        panel.set_xlabel(label, fontsize=8)
        panel.set_ylabel("return", fontsize=8)
        panel.tick_params(labelsize=8)
        if panel.get_legend_handles_labels()[0]:
            panel.legend(fontsize=8, frameon=False, loc="lower right")
    if drawn:
        with replacing(output) as (temporary,):
            figure.savefig(temporary, format="png", dpi=110)
    return drawn


def _draw(panel: "Axes", spots: Sequence[Spot], recipe: str) -> None:
    if not spots:
        return
    colour = RECIPES[recipe]
    sizes, heights, errors = zip(*spots, strict=True)
    panel.errorbar(sizes, heights, errors, fmt="o", color=colour, capsize=3, label=LABELS[recipe])
    front = pareto_front(spots)
    panel.step(
        [size for size, *_ in front],
        [height for _, height, _ in front],
        where="post",
        color=colour,
        linewidth=1,
        alpha=0.6,
    )
