"""Numbers → small SVG charts: a histogram, bars, a curve. No scripts, no fonts of their own."""

import math
from collections.abc import Sequence
from html import escape

from icct.policy.text import number

WIDTH, HEIGHT = 640, 200
LEFT, BOTTOM, TOP = 64, 34, 12
MOST_BINS = 24


def histogram(values: Sequence[float], label: str) -> str:
    """Return a histogram; every value is in one bar, the mean is marked."""
    low, high = min(values), max(values)
    bins = min(MOST_BINS, max(1, math.ceil(2 * len(values) ** (1 / 3)))) if high > low else 1
    counts = [0] * bins
    for value in values:
        place = int((value - low) / (high - low) * bins) if high > low else 0
        counts[min(place, bins - 1)] += 1
    width = (WIDTH - LEFT) / bins
    bars = "".join(
        f'<rect class="bar" x="{LEFT + place * width + 1:.1f}" y="{_y(count, 0, max(counts)):.1f}" '
        f'width="{width - 2:.1f}" height="{_y(0, 0, 1) - _y(count, 0, max(counts)):.1f}">'
        f"<title>{count} episodes</title></rect>"
        for place, count in enumerate(counts)
    )
    mean = math.fsum(values) / len(values)
    at = LEFT + ((mean - low) / (high - low) if high > low else 0.5) * (WIDTH - LEFT)
    mark = f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
    return _chart(bars + mark, (low, high), (0, max(counts)), label, "episodes")


def curve(steps: Sequence[int], values: Sequence[float], label: str) -> str:
    """Return a curve over training steps."""
    low, high = min(values), max(values)
    first, last = steps[0], steps[-1]
    points = " ".join(
        f"{LEFT + (step - first) / max(last - first, 1) * (WIDTH - LEFT):.1f},"
        f"{_y(value, low, high):.1f}"
        for step, value in zip(steps, values, strict=True)
    )
    line = f'<polyline class="line" points="{points}"/>'
    return _chart(line, (first, last), (low, high), "environment steps", label)


def bar(share: float) -> str:
    """Return one bar of a table, as wide as a share of 1."""
    return f'<span class="share"><span style="width:{100 * share:.1f}%"></span></span>'


def _chart(
    content: str,
    across: tuple[float, float],
    up: tuple[float, float],
    label: str,
    up_label: str,
) -> str:
    base = HEIGHT - BOTTOM
    texts = [
        (LEFT, base + 14, "start", _tick(across[0])),
        (WIDTH, base + 14, "end", _tick(across[1])),
        ((LEFT + WIDTH) / 2, base + 28, "middle", label),
        (LEFT - 6, base, "end", _tick(up[0])),
        (LEFT - 6, TOP + 8, "end", _tick(up[1])),
    ]
    written = "".join(
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'
        for x, y, anchor, text in texts
    )
    axis = f'<path class="axis" d="M{LEFT} {TOP}V{base}H{WIDTH}"/>'
    title = escape(f"{up_label} over {label}")
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        f"{axis}{content}{written}</svg>"
    )


def _y(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.0
    return TOP + (1 - share) * (HEIGHT - BOTTOM - TOP)


def _tick(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value)
