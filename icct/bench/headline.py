"""The top of the page of results: one table to be understood in ten seconds, and Table 1 itself."""

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import mean

from icct.bench.evidence import Row, chosen
from icct.bench.paper_score import paper_scores
from icct.bench.sizes import paper_size
from icct.bench.statistics import mean_and_error
from icct.bench.tables import ICCT_ROWS, PAPER_RESULTS, TABLE1, TASK_ORDER, published

# The recipe makes complete trees sparse by pruning, which an L1 penalty is for in the paper.
STAND_INS = {"icct-l1-sparse": "icct-complete"}
SHOWN = "icct-2-feature"  # what `icct train` makes by default
NOT_RUN = "not run"
SEEDS = 5  # of a whole cell
LEVEL = 0.05  # returns that print the same are level
OTHERWISE = "†"  # made with other options than the present preset's
SHARED = "‡"  # the trees of another row: they began with the same one, and one search made both
INTRODUCTION = """\
Trees with two features in each leaf rule, what `icct train TASK` makes by default. The paper's
number is the best evaluation seen while training, so is ours by *its* recipe; ours by the recipe
icct is honest: the tree to deploy, on 100 fresh episodes that nothing was chosen on. Mean ±
standard error over five seeds.
"""
VERDICT = """\
**Of the {cells} ICCT cells of Table 1, our mean over fresh episodes is above the paper's best
checkpoint in {above}, level with it in {level} (a pendulum's 1000 is the most there is) and below
it in {below}{missing}.** Six of the cells are ICCT-L1-sparse: there our complete trees count, which
pruning has made sparse. [Scored as the paper scores](#the-same-trees-scored-as-the-paper-scores),
the same trees are above in {scored_above}, level in {scored_level} and below in {scored_below}.
"""
MISSING = "; {missing} are not run, or not with five seeds"
Scores = Callable[[Row], Sequence[float]]  # one number for each seed


def fresh_scores(row: Row) -> Sequence[float]:
    """Return the means over fresh episodes."""
    return row.selected


def shown_scores(row: Row) -> Sequence[float]:
    """Return the best checkpoints, as in the paper; where there are none, fresh episodes."""
    return row.checkpoints or row.selected


def headline(rows: Sequence[Row]) -> str:
    """Return the table of every task, and in how many cells of the six ICCT rows ours is better."""
    lines = [
        INTRODUCTION,
        "| task | paper | ours, the paper's recipe | **ours, recipe icct** "
        "| parameters, paper → ours | ICCT cells at or above the paper |",
        "|---|---|---|---|---|---|",
    ]
    total, scored = Counter[str](), Counter[str]()
    for task in TASK_ORDER:
        counts = Counter(verdict(rows, task, method) for method in ICCT_ROWS)
        total += counts
        scored += Counter(verdict(rows, task, method, paper_scores) for method in ICCT_ROWS)
        plain, ours = (chosen(rows, task, SHOWN, recipe) for recipe in ("paper", "icct"))
        sizes = f"{paper_size(task, SHOWN).parameters}"
        if ours is not None:
            sizes += f" → {mean(ours.parameters):.0f}"
        cells = [
            published(task, SHOWN),
            _cell(plain, plain.checkpoints if plain else ()),
            f"**{_cell(ours, ours.selected if ours else ())}**",
            sizes,
            f"{counts['above'] + counts['level']} of {len(ICCT_ROWS)}"
            + (f" ({counts[NOT_RUN]} not run)" if counts[NOT_RUN] else ""),
        ]
        lines.append(f"| {task} | {' | '.join(cells)} |")
    lines += ["", _sentence(total, scored)]
    return "\n".join(lines) + "\n"


def _sentence(total: Counter[str], scored: Counter[str]) -> str:
    cells = len(TASK_ORDER) * len(ICCT_ROWS)
    words = VERDICT.format(
        cells=cells,
        above=total["above"],
        level=total["level"],
        below=total["below"],
        missing=MISSING.format(missing=total[NOT_RUN]) if total[NOT_RUN] else "",
        scored_above=scored["above"],
        scored_level=scored["level"],
        scored_below=scored["below"],
    )
    return textwrap.fill(words, 100, break_on_hyphens=False)


def verdict(rows: Sequence[Row], task: str, method: str, scores: Scores = fresh_scores) -> str:
    """Return whether ours by the recipe icct is `above`, `level` or `below`, or was `not run`."""
    row = chosen(rows, task, STAND_INS.get(method, method), "icct")
    if row is None or row.seeds < SEEDS:
        return NOT_RUN
    difference = mean(scores(row)) - PAPER_RESULTS[task, method][0]
    if abs(difference) < LEVEL:
        return "level"
    return "above" if difference > 0 else "below"


def table1(rows: Sequence[Row], recipe: str, scores: Scores = shown_scores) -> str:
    """Return the paper's Table 1, ours above and the paper's in brackets; bold: at or above it."""
    methods = TABLE1 if recipe == "paper" else ICCT_ROWS
    lines = [f"| | {' | '.join(TASK_ORDER)} |", "|---" * (len(TASK_ORDER) + 1) + "|"]
    for method in methods:
        cells = []
        for task in TASK_ORDER:
            made = STAND_INS.get(method, method) if recipe == "icct" else method
            row = chosen(rows, task, made, recipe)
            values = () if row is None else scores(row)
            text = _cell(row, values)
            if values and mean(values) > PAPER_RESULTS[task, method][0] - LEVEL:
                text = f"**{text}**"
            cells.append(f"{text} ({PAPER_RESULTS[task, method][0]:g})")
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row | None, values: Sequence[float]) -> str:
    if row is None or not values:
        return NOT_RUN
    few = "" if row.seeds >= SEEDS else f", {row.seeds} seed{'s' * (row.seeds > 1)}"
    marks = OTHERWISE * bool(row.changed) + SHARED * row.is_shared
    return f"{mean_and_error(values)}{marks}{few}"
