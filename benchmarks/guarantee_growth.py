"""How the time of a proof grows with leaves, period and horizon.

    python benchmarks/guarantee_growth.py --figure docs/figures/guarantee-growth.svg

The competition's pendulum from its box of starts, under trees that approach one smooth law ever
better: leaf k of n is the law's tangent in the k-th part of the angles. Processor time of one
process, without the falsifier; the exponent is the slope of a line through the logarithms.
"""

import argparse
import json
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from icct.guarantee import Asked
from icct.guarantee.prove import prove
from icct.plant import Plant, read_plant
from icct.plant.question import Question
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.parts import Node
from icct.verify import Property

LEAVES = (2, 4, 8, 16, 32, 64)
PERIODS = tuple(Fraction(1, n) for n in (5, 10, 20, 40, 80))
HORIZONS = tuple(Fraction(n) for n in (1, 2, 4, 8))
MARKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)  # seconds
LOW, HIGH = 0.0, 1.4  # angles that the tree tells apart


def tree(plant: Plant, leaves: int) -> Policy:
    """Return a tree of so many leaves: tangents of a law that pushes harder far from 0.5 rad."""
    width = (HIGH - LOW) / leaves
    nodes: list[Node] = []

    def build(first: int, last: int) -> int:
        index = len(nodes)
        middle = LOW + (first + 0.5) * width
        slope = -0.8 - 0.3 * (middle - 0.5)
        push = slope * (middle - 0.5)
        rule = Controller(((0, slope), (1, -0.5)), push - slope * middle)
        nodes.append(Leaf((rule,)))
        if last - first > 1:
            half = (first + last) // 2
            below, above = build(first, half), build(half, last)
            nodes[index] = Split(0, LOW + half * width, below, above)
        return index

    build(0, leaves)
    return Policy(f"{leaves} leaves", plant.features, plant.actions, tuple(nodes), "clip")


def measured(leaves: int, period: Fraction, horizon: Fraction) -> dict[str, object]:
    """Return the time and the boxes of one proof."""
    plant = replace(read_plant("plant:single-pendulum"), period=period)
    question = Question("always", Property("theta >= 0 and theta <= 1.4"), horizon)
    asked = Asked(question, plant.start, to_the_end=True)
    began = time.process_time()
    search = prove(plant, tree(plant, leaves), asked, 64)
    return {
        "leaves": leaves,
        "period": float(period),
        "horizon": float(horizon),
        "seconds": round(time.process_time() - began, 3),
        "boxes": search.tried,
        "sets": len(search.tube),
        "answer": "unknown" if search.open else "proved",
    }


def exponent(rows: list[dict[str, object]], key: str) -> float:
    """Return the slope of a line through the logarithms."""
    x = np.log([float(str(row[key])) for row in rows])
    y = np.log([float(str(row["seconds"])) for row in rows])
    return float(np.polyfit(x, y, 1)[0])


def draw(series: dict[str, list[dict[str, object]]], path: Path) -> None:
    """Draw the three series, each with its exponent."""
    from matplotlib.figure import Figure

    from icct.draw import write_figure

    figure = Figure(figsize=(10.5, 3.2), facecolor="white")
    labels = {"leaves": "leaves", "period": "period [s]", "horizon": "horizon [s]"}
    for place, (key, rows) in enumerate(series.items()):
        axes = figure.add_subplot(1, 3, place + 1)
        xs, ys = [row[key] for row in rows], [row["seconds"] for row in rows]
        axes.loglog(xs, ys, "o-", color="#2f6db3")  # type: ignore[arg-type]
        axes.set_xticks(xs, [f"{x:g}" for x in xs])  # type: ignore[str-format, arg-type]
        axes.set_xticks([], minor=True)
        marks = [y for y in MARKS if min(ys) / 1.5 <= y <= max(ys) * 1.5]  # type: ignore[operator]
        axes.set_yticks(marks, [f"{y:g}" for y in marks])
        axes.set_yticks([], minor=True)
        axes.set_xlabel(labels[key])
        axes.set_ylabel("processor time [s]")
        axes.set_title(f"exponent {exponent(rows, key):.2f}", fontsize=10)
        axes.grid(linewidth=0.3)
    figure.tight_layout()
    path.write_bytes(write_figure(figure, str(path)))


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    measured(2, Fraction(1, 20), Fraction(1))  # load everything
    series = {
        "leaves": [measured(n, Fraction(1, 20), Fraction(1)) for n in LEAVES],
        "period": [measured(8, period, Fraction(1)) for period in PERIODS],
        "horizon": [measured(8, Fraction(1, 20), horizon) for horizon in HORIZONS],
    }
    for key, rows in series.items():
        for row in rows:
            print(json.dumps(row))
        print(f"exponent of the time in {key}: {exponent(rows, key):.2f}")
    if options.figure is not None:
        draw(series, options.figure)


if __name__ == "__main__":
    main()
