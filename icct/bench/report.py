"""Records → the pages and figures of results, byte for byte the same from the same records.

`docs/results.md` is for a reader with little time, `docs/results-by-task.md` has every row.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from icct.bench.by_task import by_task
from icct.bench.cost import cost_section
from icct.bench.curves import draw_curves
from icct.bench.evidence import Evidence, Row, read_evidence
from icct.bench.gumbel import gumbel_table
from icct.bench.headline import OTHERWISE, SHARED, headline, table1
from icct.bench.missing import missing_table
from icct.bench.paper_score import paper_scores
from icct.bench.scatter import draw_scatter
from icct.bench.tradeoff import draw_tradeoff, tradeoff_rows
from icct.errors import ConfigError
from icct.files import read_toml, write_together

NOTES = "notes.toml"  # beside the records: what the curves of a task show, in words
DETAILS = "results-by-task.md"
ALSO = f"""\
{OTHERWISE}: made with other options than the present preset's, which [the details]({DETAILS})
name. Bold: at or above the paper's number, which stands in brackets.
"""
ALSO_ICCT = f"""\
{SHARED}: the trees of a row above. All begin with the same tree, the best teacher there is, so one
search makes them.

{ALSO}"""
SCATTER = """\
![Return against parameters](figures/return-against-parameters.png)

Empty rings are the paper's best checkpoints, squares ours by its recipe, discs ours by the recipe
icct on fresh episodes. Up and to the left is better. A triangle at the lower edge is a return far
below it.
"""
TABLE1_ICCT = """\
## Table 1 by the recipe icct

Mean return of the tree to deploy over 100 fresh episodes ± standard error over seeds. [The
recipe](recipe.md) trains a complete tree, distils it, polishes and prunes; `icct bench table1
--recipe icct` makes the rows. ICCT-L1-sparse are the same trees as ICCT-complete: pruning has taken
their small weights away.
"""
AS_THE_PAPER_SCORES = """\
### The same trees, scored as the paper scores

A mean over fresh episodes is measured against the paper's numbers with a handicap: these are each
the best of 66 to 333 evaluations of five episodes, and the best of many is above the mean even
where all are of one and the same policy. Here ours has no handicap: what the best of as many
evaluations of each tree is expected to be, drawn from its 100 fresh episodes.
"""
TABLE1_PAPER = f"""\
## Table 1 by the paper's recipe

The reproduction, on the paper's own statistic: the best evaluation (5 episodes) seen during
training, mean ± standard error over seeds. DT rows and crisp ones are scored on fresh episodes.
What the same policies do on fresh episodes, the interquartile means and what the curves show are
in [the details]({DETAILS}): sparse trees trained plainly owe much of this number to the choice.
`icct bench table1` makes the rows.
"""
NOTE = """\
**Seeds are common to all methods**: members of the same seed start with the same random
transitions, critics and draws of batches. Rows of one table are therefore correlated.
"""
CURVES = """\
![Learning curves of every task]({figure})

{what}, a running mean over nine points: mean over seeds, with a band of its standard error.
The panels of a task share their axes.{marks}
"""
TRADEOFF = """\
![Trade-off of size and return](figures/tradeoff.png)

LunarLander: rules of no to all eight features at 8 leaves, and 2 to 32 leaves with two features;
mean ± standard error over seeds, with the Pareto front of each recipe. Dotted: 200, a landing.
`icct bench tradeoff` runs what is missing.
"""


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
    """Write the page of results, that of the details beside it, and the figures in `figures`."""
    evidence = read_evidence(results)
    rows = evidence.rows
    figures = output.parent / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    draw_scatter(rows, figures / "return-against-parameters.png")
    drawn = {
        "curves": draw_curves(rows, figures / "learning-curves.png"),
        "training": draw_curves(rows, figures / "training-curves.png", "training_curve"),
        "tradeoff": draw_tradeoff(tradeoff_rows(results, rows), figures / "tradeoff.png"),
    }
    page, details = pages(results, evidence, drawn)
    write_together({output: page, output.parent / DETAILS: details}, ConfigError)


def pages(results: Path, evidence: Evidence, drawn: Mapping[str, bool]) -> tuple[str, str]:
    """Return the page of results and that of the details, for the figures that were drawn."""
    costs = cost_section(evidence.plain, evidence.recipes)
    page = summary(evidence.rows, drawn, costs, missing_table(results, evidence.plain))
    return page, by_task(evidence.rows, read_notes(results))


def summary(
    rows: Sequence[Row],
    drawn: Mapping[str, bool] | None = None,
    costs: str = "",
    missing: str = "",
) -> str:
    """Return the page of results as Markdown."""
    there = drawn or {}
    parts = ["# Results", "", headline(rows)]
    if drawn is not None:
        parts.append(SCATTER)
    parts += [TABLE1_ICCT, table1(rows, "icct"), ALSO_ICCT]
    parts += [AS_THE_PAPER_SCORES, table1(rows, "icct", paper_scores)]
    parts += [TABLE1_PAPER, table1(rows, "paper"), ALSO, NOTE]
    parts += ["## Learning curves", "", *_curves(there)]
    parts += ["## Gumbel noise", "", gumbel_table(rows)]
    parts += ["## Size and return", "", _tradeoff(there.get("tradeoff", False))]
    if costs:
        parts += ["## What it took", "", costs]
    if missing:
        parts += ["## What was not run", "", missing]
    return "\n".join(parts).rstrip() + "\n"


def _curves(there: Mapping[str, bool]) -> list[str]:
    parts = []
    if there.get("curves"):
        marks = " The mark at the right edge is the paper's number for the method of that colour."
        what = "Evaluations during training"
        parts.append(CURVES.format(figure="figures/learning-curves.png", what=what, marks=marks))
    if there.get("training"):
        what = "Training episodes, with exploration, of the runs that recorded them"
        parts.append(CURVES.format(figure="figures/training-curves.png", what=what, marks=""))
    return parts or ["Not run.\n"]


def _tradeoff(drawn: bool) -> str:
    return TRADEOFF if drawn else "Not run: `icct bench tradeoff` runs it.\n"
