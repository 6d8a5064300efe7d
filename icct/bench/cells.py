"""The cells of the paper's evaluation: which there are, where their records lie, which are missing.

A cell is one task, method, seed and recipe. Trees of other sizes than Table 1's, which the
trade-off figures need, have a folder for each size: `results/tradeoff/16-leaves`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from icct.bench.deviations import deviations, recipe_deviations
from icct.bench.oracle_trees import FOLDER as DT_FOLDER
from icct.bench.oracle_trees import METHODS as DT_METHODS
from icct.bench.oracle_trees import paper_protocol
from icct.bench.recipes import FOLDER as RECIPE_FOLDER
from icct.bench.sizes import CRISP, trained_as
from icct.bench.tables import GUMBEL_TASKS, ICCT_ROWS, PAPER_GUMBEL, TABLE1, TASK_ORDER
from icct.errors import ConfigError, FileError, did_you_mean
from icct.files import read_json
from icct.learn.config import make_config
from icct.recipe.config import METHODS_MADE

TRADEOFF = "tradeoff"  # the folder of trees of other sizes
TRADEOFF_TASK = "lunar-lander"
TRADEOFF_LEAVES = 8  # of the figure over features
TRADEOFF_FEATURES = "icct-2-feature"  # of the figure over leaves
FEATURES = ("icct-static", *(f"icct-{count}-feature" for count in range(1, 8)), "icct-complete")
LEAVES = (2, 4, 8, 16, 32)
GUMBEL = ("icct-complete", "icct-1-feature", "icct-2-feature")
RECIPES = ("paper", "icct")
KINDS = ("table1", "gumbel", "tradeoff", "curves")


@dataclass(frozen=True)
class Cell:
    """One result."""

    task: str
    method: str
    seed: int
    recipe: str
    leaves: int | None = None  # None: those of Table 1

    @property
    def is_dt(self) -> bool:
        """Whether CART makes it of an oracle."""
        return self.method in DT_METHODS

    @property
    def is_crisp(self) -> bool:
        """Whether it is made of a trained tree afterwards, and is in the record of that one."""
        return self.method.endswith(CRISP)


def cells(
    kind: str,
    recipe: str,
    seeds: Sequence[int],
    tasks: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
) -> list[Cell]:
    """Return the cells of a table or figure, of some tasks and methods only where they are named.

    >>> len(cells("table1", "paper", range(5)))
    450
    """
    shapes = list(dict.fromkeys(_shapes(kind, recipe)))
    known = {"tasks": [s[0] for s in shapes], "methods": [s[1] for s in shapes]}
    for name, asked in (("tasks", tasks), ("methods", methods)):
        for one in asked or ():
            if one not in known[name]:
                there = list(dict.fromkeys(known[name]))
                raise ConfigError(
                    f"--{name} {one!r}: {kind} by the recipe {recipe} has {', '.join(there)}."
                    f"{did_you_mean(one, there)}"
                )
    return [
        Cell(task, method, seed, recipe, leaves)
        for task, method, leaves in shapes
        if (not tasks or task in tasks) and (not methods or method in methods)
        for seed in seeds
    ]


def _shapes(kind: str, recipe: str) -> Iterable[tuple[str, str, int | None]]:
    """Yield task, method and leaves of every cell."""
    if kind == "gumbel":
        if recipe == "icct":
            raise ConfigError("The Gumbel ablation is about plain training: use --recipe paper.")
        yield from ((t, m, None) for t in GUMBEL_TASKS for m in (*GUMBEL, *PAPER_GUMBEL))
    elif kind == "tradeoff":
        sizes = [(method, TRADEOFF_LEAVES) for method in FEATURES]
        sizes += [(TRADEOFF_FEATURES, leaves) for leaves in LEAVES]
        for method, leaves in sizes:
            own = table1_leaves(TRADEOFF_TASK, method) == leaves and method in TABLE1
            yield TRADEOFF_TASK, method, None if own else leaves
    elif recipe == "icct":
        made = [method for method in ICCT_ROWS if method in METHODS_MADE]
        yield from ((task, method, None) for task in TASK_ORDER for method in made)
    else:
        trained = [m for m in TABLE1 if m not in DT_METHODS and not m.endswith(CRISP)]
        asked = TABLE1 if kind == "table1" else trained
        yield from ((task, method, None) for task in TASK_ORDER for method in asked)


@cache
def table1_leaves(task: str, method: str) -> int:
    """Return the leaves that a method has in Table 1."""
    leaves: int = make_config(task, method, recipe="paper").tree.leaves
    return leaves


def results_root(results: Path, cell: Cell) -> Path:
    """Return the folder of results that a cell's record belongs to."""
    return results if cell.leaves is None else results / TRADEOFF / f"{cell.leaves}-leaves"


def record_file(results: Path, cell: Cell) -> Path:
    """Return where the record of a cell lies."""
    root = results_root(results, cell)
    if cell.recipe == "icct":
        return root / RECIPE_FOLDER / f"{cell.task}.{cell.method}.seed-{cell.seed}.json"
    name = f"{cell.task}.{trained_as(cell.method)}.{cell.recipe}.seed-{cell.seed}.json"
    return root / DT_FOLDER / name if cell.is_dt else root / name


def is_recorded(results: Path, cell: Cell) -> bool:
    """Return whether there is a record of a cell with the present preset's configuration."""
    path = record_file(results, cell)
    if not path.exists():
        return False
    record: dict[str, Any] = read_json(path, "a record", error=ConfigError)
    try:
        if cell.is_dt:
            protocol = paper_protocol(cell.task, cell.method)
            return bool(record["config"] == vars(protocol))
        if cell.recipe == "icct":
            return not recipe_deviations(record, but=("leaves",) if cell.leaves else ())
        changed = deviations(record, but=("leaves",) if cell.leaves else ())
        return not changed and (not cell.is_crisp or "crisp" in record)
    except (LookupError, TypeError, FileError) as error:
        raise ConfigError(f"{path} is not a record: {error}. Remove it.") from None
