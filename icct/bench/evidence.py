"""All records → rows: one for each task, method, recipe and configuration, with its seeds.

Whatever a table or figure shows comes from here, so no two of them can differ, and no row mixes
configurations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icct.bench.deviations import deviations, recipe_deviations
from icct.bench.oracle_trees import read_tree_records
from icct.bench.recipes import read_recipe_records
from icct.bench.sizes import CRISP, size_of
from icct.envs.card import task_from_values
from icct.errors import ConfigError
from icct.files import read_json
from icct.learn.config import config_from_json

EARLIER = "earlier-preset"  # the folder of records that a present run would otherwise replace
FORMAT = ("icct-record", 1)
LARGEST = 2**26  # bytes of a record
Record = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """The records of one method on one task, all made in one way."""

    task: str
    method: str
    recipe: str
    changed: str  # options that the present preset has otherwise; "" for none
    records: tuple[Record, ...]

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(self.records)

    @property
    def title(self) -> str:
        """The recipe, with what was changed of it."""
        return f"{self.recipe}, {self.changed}" if self.changed else self.recipe

    @property
    def is_shared(self) -> bool:
        """Whether every tree is that of another method, with which it shares its search."""
        return all("same_as" in record for record in self.records)

    @property
    def checkpoints(self) -> list[float]:
        """The best evaluation of each training run; empty for what is not trained."""
        if self.recipe == "icct" or self.method.endswith(CRISP):
            return []
        found = [record.get("best_checkpoint", {}).get("mean") for record in self.records]
        return [value for value in found if value is not None]

    @property
    def selected(self) -> list[float]:
        """What each policy that was selected, or is to be deployed, returns on fresh episodes."""
        return [one["mean"] for one in self._fresh("best")]

    @property
    def fresh_returns(self) -> list[list[float]]:
        """Every return of each of these policies on fresh episodes."""
        return [one["returns"] for one in self._fresh("best")]

    @property
    def final(self) -> list[float]:
        """What each policy at the end of training returns on fresh episodes."""
        return [] if self.recipe == "icct" else [one["mean"] for one in self._fresh("final")]

    def _fresh(self, kind: str) -> list[Record]:
        if self.recipe == "icct":
            return [record["final"]["fresh"] for record in self.records]
        place = "crisp" if self.method.endswith(CRISP) else "fresh"
        return [record[place][kind] for record in self.records if kind in record[place]]

    @property
    def leaves(self) -> list[int]:
        """The leaves of each policy; empty for networks."""
        return [size[0] for size in map(self._size, self.records) if size[0] is not None]

    @property
    def parameters(self) -> list[int]:
        """The active parameters of each policy, counted as in the paper."""
        return [size[1] for size in map(self._size, self.records) if size[1] is not None]

    def _size(self, record: Record) -> tuple[int | None, int | None]:
        if self.recipe == "icct":
            return record["final"]["leaves"], record["final"]["parameters"]
        if "max_depth" in record["config"]:  # CART
            return record["leaves"], record["parameters"]
        card = record["config"]["task"]
        named = task_from_values(card) if isinstance(card, dict) else None
        return size_of(config_from_json(record["config"], "record", named), self.method)


@dataclass(frozen=True)
class Evidence:
    """All that was recorded of Table 1."""

    plain: Sequence[Record]  # of plain training
    recipes: Sequence[Record]  # of the recipe icct
    rows: Sequence[Row]  # of these, and of CART


def read_records(results: Path) -> list[Record]:
    """Return all records of plain training, those of earlier presets included."""
    records = []
    for path in sorted(results.glob("*.json")) + sorted((results / EARLIER).glob("*.json")):
        record = read_json(path, "a record", LARGEST, ConfigError)
        if not isinstance(record, dict) or (record.get("format"), record.get("version")) != FORMAT:
            raise ConfigError(f"{path} is not a record. Remove it.")
        records.append(record)
    return records


def read_evidence(results: Path) -> Evidence:
    """Return what a folder of results has."""
    plain, recipes = read_records(results), read_recipe_records(results)
    return Evidence(plain, recipes, rows_of(plain, recipes, read_tree_records(results)))


def rows_of(
    plain: Sequence[Record], recipes: Sequence[Record] = (), trees: Sequence[Record] = ()
) -> list[Row]:
    """Return records as rows; a tree that was made crisp afterwards has a row of its own."""
    found: dict[tuple[str, str, str, str], list[Record]] = {}

    def add(record: Record, method: str, recipe: str, changed: str) -> None:
        found.setdefault((record["task"], method, recipe, changed), []).append(record)

    for record in plain:
        changed = deviations(record)
        add(record, record["method"], record["recipe"], changed)
        if "crisp" in record:
            add(record, f"{record['method']}{CRISP}", record["recipe"], changed)
    for record in recipes:
        add(record, record["method"], "icct", recipe_deviations(record))
    for record in trees:
        add(record, record["method"], "paper", "")
    return [Row(*key, tuple(records)) for key, records in found.items()]


def chosen(rows: Sequence[Row], task: str, method: str, recipe: str) -> Row | None:
    """Return the row to show for a cell: the one with most seeds, of equal ones the present preset.

    None where nothing was run.
    """
    own = [row for row in rows if (row.task, row.method, row.recipe) == (task, method, recipe)]
    return max(own, key=lambda row: (row.seeds, not row.changed, row.changed), default=None)
