"""A proved tube as a figure: states against time, and two of them against each other.

Boxes have the colour of the leaf that acts there, grey where several may; what the condition
forbids is hatched; thin lines are ordinary trajectories.
"""

from typing import TYPE_CHECKING

import numpy as np

from icct.errors import MissingExtraError
from icct.guarantee.answer import Proved
from icct.guarantee.law import SEVERAL
from icct.guarantee.loop import Asked
from icct.guarantee.rounding import Array
from icct.guarantee.zonotope import Rows
from icct.plant import Plant
from icct.plant.margin import margin
from icct.plant.question import TIME
from icct.plant.simulate import simulate, within
from icct.policy import Policy
from icct.verify.condition import AnyOf, Condition, names, negated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#2f6db3", "#c23b33", "#3c8d5a", "#e08a00", "#7b56a8", "#0f8f9c", "#b0568a", "#7a6a3a")
BETWEEN = "#9aa0a8"
FORBIDDEN = "#c23b33"
GRID = 200  # points each way, for what is forbidden in a plane
TRAJECTORIES = 24
COLUMNS = 3


def draw_tube(answer: Proved, policy: Policy) -> "Figure":
    """Return a figure of the tube of a proved question."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            'Drawing needs matplotlib. Install it with: pip install "icct[draw]"'
        ) from None
    plant, n = answer.plant, len(answer.plant.states)
    times, states = _trajectories(answer, policy)
    panels = n + (n > 1)
    rows = -(-panels // COLUMNS)
    figure = Figure(figsize=(4.2 * min(panels, COLUMNS), 3.1 * rows + 0.7), facecolor="white")
    figure.suptitle(f"{plant.name}: proved, {answer.asked.question.text}", fontsize=10)
    for state in range(n):
        axes = figure.add_subplot(rows, COLUMNS if panels > 1 else 1, state + 1)
        _against_time(axes, answer, state)
        axes.plot(times, states[:, :, state].T, color="black", linewidth=0.4)
        axes.set_xlabel("time [s]")
        axes.set_ylabel(_label(plant, state))
    if n > 1:
        axes = figure.add_subplot(rows, COLUMNS, panels)
        across, up = _plane(answer.asked, plant)
        _in_plane(axes, answer, across, up)
        axes.plot(states[:, :, across].T, states[:, :, up].T, color="black", linewidth=0.4)
        axes.set_xlabel(_label(plant, across))
        axes.set_ylabel(_label(plant, up))
    _legend(figure, answer)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    return figure


def _trajectories(answer: Proved, policy: Policy) -> tuple[Array, Array]:
    start = answer.asked.start
    parts = np.random.default_rng(0).uniform(size=(TRAJECTORIES, len(start)))
    parts[::2] = np.round(parts[::2])
    last = float(answer.search.tube.until.max())
    went = simulate(answer.plant, policy, within(start, parts), answer.asked.question.time)
    shown = went.times <= last + 1e-9
    return went.times[shown], went.states[:, shown]


def _against_time(axes: "Axes", answer: Proved, state: int) -> None:
    tube = answer.search.tube
    low, high = tube.low[:, state], tube.high[:, state]
    _boxes(axes, tube.leaf, tube.since, tube.until, low, high)
    axes.set_xlim(0, float(tube.until.max()))
    bottom, top = _with_margin(low, high)
    axes.set_ylim(bottom, top)
    name = answer.plant.states[state].name
    moments = np.linspace(0, float(tube.until.max()), GRID)
    _hatched(axes, answer.asked, {TIME: moments, name: np.linspace(bottom, top, GRID)})


def _in_plane(axes: "Axes", answer: Proved, across: int, up: int) -> None:
    tube, states = answer.search.tube, answer.plant.states
    low, high = tube.low, tube.high
    _boxes(axes, tube.leaf, low[:, across], high[:, across], low[:, up], high[:, up])
    (left, right), (bottom, top) = (
        _with_margin(low[:, side], high[:, side]) for side in (across, up)
    )
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    spans = {states[across].name: np.linspace(left, right, GRID)}
    _hatched(axes, answer.asked, spans | {states[up].name: np.linspace(bottom, top, GRID)})


def _boxes(axes: "Axes", leaf: Rows, left: Array, right: Array, bottom: Array, top: Array) -> None:
    from matplotlib.collections import PolyCollection

    corners = np.stack(
        [
            np.stack([left, bottom], 1),
            np.stack([left, top], 1),
            np.stack([right, top], 1),
            np.stack([right, bottom], 1),
        ],
        axis=1,
    )
    colours = [_colour(int(one)) for one in leaf]
    axes.add_collection(
        PolyCollection(list(corners), facecolors=colours, alpha=0.35, rasterized=True)
    )


def _hatched(axes: "Axes", asked: Asked, spans: dict[str, Array]) -> None:
    """Hatch where the condition is broken, as far as the two names of `spans` decide that."""
    broken = _about(_forbidden(asked), set(spans))
    if broken is None:
        return
    (across, xs), (up, ys) = spans.items()
    grid = dict(zip((across, up), np.meshgrid(xs, ys), strict=True))
    excess = np.broadcast_to(margin(broken, grid), (GRID, GRID))
    excess = np.clip(np.nan_to_num(excess, posinf=1.0, neginf=-1.0), -1.0, 1.0)
    if (excess > 0).any():
        filled = axes.contourf(xs, ys, excess, levels=[0, 2], colors="none", hatches=["///"])
        filled.set_edgecolor(FORBIDDEN)
        filled.set_linewidth(0.0)


def _forbidden(asked: Asked) -> Condition:
    """Return what must never hold; a goal is drawn by what is outside it."""
    violation = asked.question.condition.violation
    return negated(violation) if asked.question.kind == "never" else violation


def _about(condition: Condition, known: set[str]) -> Condition | None:
    """Return the condition, or those of its alternatives that need only the known names."""
    if names(condition) <= known:
        return condition
    if not isinstance(condition, AnyOf):
        return None
    parts = [_about(part, known) for part in condition.parts]
    kept = tuple(part for part in parts if part is not None)
    return AnyOf(kept) if kept else None


def _plane(asked: Asked, plant: Plant) -> tuple[int, int]:
    """Return the two states to draw: the first two that the condition speaks of, or just two."""
    spoken = names(asked.question.condition.violation)
    order = sorted(range(len(plant.states)), key=lambda i: plant.states[i].name not in spoken)
    first, second = sorted(order[:2])
    return first, second


def _legend(figure: "Figure", answer: Proved) -> None:
    from matplotlib.patches import Patch

    leaves = sorted(set(answer.search.tube.leaf.tolist()))
    patches = [
        Patch(color=_colour(leaf), label="several leaves" if leaf == SEVERAL else f"leaf {leaf}")
        for leaf in leaves
    ]
    figure.legend(
        handles=patches, loc="lower center", ncols=min(len(patches), 8), frameon=False, fontsize=8
    )


def _colour(leaf: int) -> str:
    return BETWEEN if leaf == SEVERAL else COLOURS[leaf % len(COLOURS)]


def _label(plant: Plant, state: int) -> str:
    one = plant.states[state]
    return f"{one.name} [{one.unit}]" if one.unit else one.name


def _with_margin(low: Array, high: Array) -> tuple[float, float]:
    bottom, top = float(low.min()), float(high.max())
    room = 0.12 * (top - bottom) or 1.0
    return bottom - room, top + room
