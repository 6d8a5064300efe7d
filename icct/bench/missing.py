"""Records → what was not run, and the minutes that a GPU of the recorded kind needs for it."""

from collections.abc import Sequence
from pathlib import Path

from icct.bench.cells import Cell, cells, is_recorded
from icct.bench.cost import gpu_seconds
from icct.bench.evidence import Record
from icct.bench.oracles import METHOD as ORACLE
from icct.bench.oracles import oracle_file
from icct.bench.sizes import trained_as
from icct.bench.tables import TASK_ORDER
from icct.learn.config import make_config

SEEDS = range(5)  # as many as in the paper
HEAD = """\
Five seeds of each by the paper's recipe, with the present presets. Minutes are of one GPU of the
recorded kind with 16 cores beside it, several methods side by side, at the mean rate of the
recorded runs. CART (dt) needs none, but learns from a perceptron: where none is kept, its training
counts. `icct bench table1 --plan` lists the same with the hours here.

| of | task | methods | GPU minutes |
|---|---|---|---|
"""
Group = dict[tuple[str, str, int | None], list[int]]  # (task, method, leaves) → seeds to train


def to_train(missing: Sequence[Cell], results: Path) -> Group:
    """Return what has to be trained for some cells of the paper's recipe.

    CART trains nothing, but where its oracle is not kept the perceptrons have to be trained again.
    """
    groups: Group = {}
    for cell in missing:
        if not cell.is_dt:
            seeds = groups.setdefault((cell.task, trained_as(cell.method), cell.leaves), [])
            if cell.seed not in seeds:
                seeds.append(cell.seed)
        elif not oracle_file(results, cell.task).exists():
            groups[cell.task, ORACLE, None] = list(SEEDS)
    return groups


def gpu_minutes(groups: Group, plain: Sequence[Record]) -> float | None:
    """Return the minutes that a GPU of the recorded kind needs; None where no record tells."""
    rows = 0
    for (task, method, _), seeds in groups.items():
        config = make_config(task, method, recipe="paper")
        rows += len(seeds) * config.steps * config.value("batch_size")
    seconds = gpu_seconds(plain, rows)
    return None if seconds is None else seconds / 60


def missing_table(results: Path, plain: Sequence[Record]) -> str:
    """Return what is missing of Table 1 and the ablations by the paper's recipe; "" for nothing."""
    lines, total = [], 0.0
    for kind in ("table1", "gumbel", "tradeoff"):
        missing = [one for one in cells(kind, "paper", SEEDS) if not is_recorded(results, one)]
        for task in TASK_ORDER:
            own = [cell for cell in missing if cell.task == task]
            if own:
                minutes = gpu_minutes(to_train(own, results), plain)
                total += minutes or 0.0
                lines.append(f"| {kind} | {task} | {_names(own)} | {_minutes(minutes)} |")
    if not lines:
        return ""
    lines.append(f"| all | | what several share is counted for each | {total:.0f} |")
    return HEAD + "\n".join(lines) + "\n"


def _names(missing: Sequence[Cell]) -> str:
    """Return the methods that are missing, with their leaves and how many seeds where not all."""
    found: dict[str, int] = {}
    for cell in missing:
        name = cell.method if cell.leaves is None else f"{cell.method} ({cell.leaves} leaves)"
        found[name] = found.get(name, 0) + 1
    return ", ".join(
        name if count == len(SEEDS) else f"{name} ({count} seeds)" for name, count in found.items()
    )


def _minutes(minutes: float | None) -> str:
    return "" if minutes is None else f"{minutes:.0f}"
