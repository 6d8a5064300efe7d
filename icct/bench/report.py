"""Records → one Markdown page: ours beside the published numbers, missing cells said so."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from icct.bench.deviations import deviations
from icct.bench.recipes import read_recipe_records, recipe_table
from icct.bench.tables import PAPER_RESULTS, TASK_ORDER, mean_and_error, tasks_in_order
from icct.errors import ConfigError
from icct.files import read_json, read_toml, write_atomically

METHODS = (  # of the paper's Table 1, in its order; shown even where nothing was run
    "icct-static",
    "icct-1-feature",
    "icct-2-feature",
    "icct-3-feature",
    "icct-l1-sparse",
    "icct-complete",
    "mlp-lower",
    "mlp-upper",
    "mlp-max",
    "cddt",
    "cddt-controllers",
)
INTRODUCTION = """## Plain training

Made by `icct bench report` from the records in `results/`, which `icct bench record RUN` writes.
Mean ± standard error over seeds, deterministic policies, trees crisp.

- **best checkpoint**: the highest mean of 5 episodes among all evaluations during training. The
  paper's numbers are probably of this kind; it flatters, because it chooses on what it reports.
- **selected, fresh** and **final, fresh**: that checkpoint, and the policy at the end of training,
  over fresh episodes that neither training nor selection has seen.
- **recipe**: `paper` is the present preset. A row that names options was run with these values,
  by a preset since corrected; its records and policies are in `results/earlier-preset`.

Seeds are common to all methods: members of the same seed start with the same random transitions,
critics and draws of batches. Rows of one table are therefore correlated.
"""
CAPTION = """\
Evaluations during training, a running mean over nine of them: mean over seeds, in a band of its
standard error. The mark at the right edge is the paper's number for the method of that colour.
"""
EARLIER = "earlier-preset"  # the folder of records that a present run would otherwise replace
NOTES = "notes.toml"  # beside the records: what the curves of a task show, in words
FORMAT = ("icct-record", 1)
LARGEST = 2**26  # bytes of a record
FIGURE = "learning-curves.png"
Record = dict[str, Any]


def read_records(results: Path) -> list[Record]:
    """Return all records of a folder, those of earlier presets included."""
    records = []
    for path in sorted(results.glob("*.json")) + sorted((results / EARLIER).glob("*.json")):
        record = read_json(path, "a record", LARGEST, ConfigError)
        if not isinstance(record, dict) or (record.get("format"), record.get("version")) != FORMAT:
            raise ConfigError(f"{path} is not a record. Remove it.")
        records.append(record)
    return records


def read_notes(results: Path) -> dict[str, str]:
    """Return what was noted about each task; empty where there is no file of notes."""
    path = results / NOTES
    if not path.exists():
        return {}
    notes = read_toml(path, "a file of notes", error=ConfigError)
    for task, note in notes.items():
        if not isinstance(note, str):
            raise ConfigError(f"{path}: {task!r} must be a task with a text.")
    return notes


def write_report(results: Path, output: Path) -> None:
    """Write the page of results and, beside it, the figure of learning curves."""
    records = read_records(results)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure = None
    if records:
        from icct.bench.curves import draw_curves

        figure = Path("figures") / FIGURE
        (output.parent / figure).parent.mkdir(exist_ok=True)
        draw_curves(records, output.parent / figure)
    page = report(records, read_notes(results), figure, read_recipe_records(results))
    write_atomically(output, page, ConfigError)


def report(
    records: Sequence[Record],
    notes: Mapping[str, str] | None = None,
    figure: Path | None = None,
    recipes: Sequence[Record] = (),
) -> str:
    """Return the page of results as Markdown: the recipe's trees first, then plain training."""
    lines = ["# Results", "", recipe_table(recipes), INTRODUCTION]
    if figure is not None:
        lines += [f"![Learning curves of every task]({figure.as_posix()})", "", CAPTION]
    for task in tasks_in_order([*TASK_ORDER, *(record["task"] for record in records)]):
        lines += [
            f"### {task}",
            "",
            "| method | recipe | seeds | steps | best checkpoint | selected, fresh | final, fresh "
            "| paper |",
            "|---|---|---|---|---|---|---|---|",
        ]
        expected = METHODS if task in TASK_ORDER else ()
        rows: dict[tuple[str, str], list[Record]] = {(method, "paper"): [] for method in expected}
        for record in records:
            if record["task"] == task:
                rows.setdefault((record["method"], recipe_of(record)), []).append(record)
        for method, recipe in sorted(rows, key=_place):
            cells = _cells(rows[method, recipe])
            lines.append(f"| {method} | {recipe} | {cells} | {published(task, method)} |")
        lines.append("")
        if notes and task in notes:
            lines += [notes[task].strip(), ""]
    return "\n".join(lines)


def recipe_of(record: Record) -> str:
    """Return a record's recipe, and the options that its present preset has otherwise."""
    changed = deviations(record)
    return f"{record['recipe']}, {changed}" if changed else str(record["recipe"])


def _place(row: tuple[str, str]) -> tuple[int, str, str]:
    method, recipe = row
    return METHODS.index(method) if method in METHODS else len(METHODS), method, recipe


def published(task: str, method: str) -> str:
    """Return the paper's mean and standard error, or nothing where it has none."""
    cell = PAPER_RESULTS.get((task, method))
    return "" if cell is None else f"{cell[0]:g} ± {cell[1]:g}"


def _cells(records: Sequence[Record]) -> str:
    if not records:
        return "0 | | not run | not run | not run"
    steps = sorted({f"{record['config']['steps']:,}" for record in records})
    columns: list[Callable[[Record], float]] = [
        lambda record: record["best_checkpoint"]["mean"],
        lambda record: record["fresh"]["best"]["mean"],
        lambda record: record["fresh"]["final"]["mean"],
    ]
    cells = [mean_and_error([column(record) for record in records]) for column in columns]
    return " | ".join([str(len(records)), "/".join(steps), *cells])
