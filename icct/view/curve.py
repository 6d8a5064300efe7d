"""Run folder → training curve of one policy, where the policy still lies in its run folder."""

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from icct.errors import FileError
from icct.files import read_text
from icct.policy import Policy

METRICS = {"score": "evaluation score", "episode_return": "return of training episodes"}
COLUMNS = 5  # step, group, seed, metric, value
LARGEST_FILE = 16 * 2**20  # bytes
POINTS = 400  # of a curve; more are averaged in equal groups


@dataclass(frozen=True)
class Curve:
    """One measurement over the steps of training."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


def training_curves(policy: Policy, path: Path) -> tuple[Curve, ...]:
    """Return the curves of the run that a policy file lies in; none outside a run folder."""
    folder = next((p.parent for p in path.resolve().parents if p.name == "policies"), None)
    if folder is None or not (folder / "metrics.csv").is_file():
        return ()
    wanted = (policy.provenance.method, str(policy.provenance.seed))
    found: dict[str, list[tuple[int, float]]] = {metric: [] for metric in METRICS}
    for step, group, seed, metric, value in _rows(folder / "metrics.csv"):
        method = group.rpartition("/")[2]  # "task/method" where tasks differ
        if metric not in found or (method, seed) != wanted:
            continue
        try:
            point = int(step), float(value)
        except ValueError:  # a line cut short by a kill
            continue
        if math.isfinite(point[1]):
            found[metric].append(point)
    return tuple(_curve(METRICS[m], points) for m, points in found.items() if len(points) > 1)


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield the lines of a file of measurements that have a number in every column."""
    text = read_text(path, "the measurements of a run", LARGEST_FILE)
    try:
        yield from (row for row in csv.reader(io.StringIO(text)) if len(row) == COLUMNS)
    except csv.Error as error:
        raise FileError(f"{path}: not readable as CSV: {error}.") from None


def _curve(name: str, points: list[tuple[int, float]]) -> Curve:
    size = -(-len(points) // POINTS)
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return Curve(
        name,
        tuple(group[-1][0] for group in groups),
        tuple(sum(value for _, value in group) / len(group) for group in groups),
    )
