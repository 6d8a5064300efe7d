"""Rows → the page of details: for each task every method, every recipe, every configuration."""

from collections.abc import Mapping, Sequence
from statistics import mean

from icct.bench.evidence import Record, Row
from icct.bench.statistics import mean_and_error, middle_and_interval
from icct.bench.tables import TABLE1, TASK_ORDER, published, tasks_in_order
from icct.recipe.folder import stages

INTRODUCTION = """\
# Results by task

Made by `icct bench report`, as [the summary](results.md). Deterministic policies, trees crisp;
mean ± standard error over seeds.

- **best checkpoint**: the highest mean of 5 episodes among all evaluations during training. The
  paper's numbers are probably of this kind; it flatters, because it chooses on what it reports.
- **selected, fresh** and **final, fresh**: that checkpoint, and the policy at the end of
  training, over fresh episodes that neither training nor selection has seen. By the recipe icct,
  the tree to deploy.
- **middle half**: the interquartile mean of *selected, fresh* over seeds, which one bad seed does
  not move, with a 95 % bootstrap interval (2,000 resamples by `arch`; of five seeds it is rough).
- **recipe**: `paper` and `icct` are the present presets. A row that names options was made with
  these values instead; records of presets since corrected are in `results/earlier-preset`.
- **leaves**, **parameters**: of the policy that acts, counted as in the paper; by the recipe icct
  the mean over seeds, after pruning.

The second table of a task has the recipe icct stage by stage, each on fresh episodes. *Search* is
`--polish-episodes`; *again* is the tree after the passes that follow the first (`--passes`);
leaves and parameters are those of the tree to deploy, in brackets before pruning. Steps are of the
environment, in thousands: of the teachers, and of all after them, estimated from episodes and their
length. Minutes are those of one tree after its teacher.
"""
HEAD = (
    "| method | recipe | seeds | leaves | parameters | steps | best checkpoint | selected, fresh "
    "| middle half | final, fresh | paper |"
)
STAGES_HEAD = """\
| method by the recipe icct | seeds | search | teacher | distilled | extended | polished | again \
| **to deploy** | leaves | depth | parameters | steps | min |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def by_task(rows: Sequence[Row], notes: Mapping[str, str]) -> str:
    """Return the page."""
    lines = [INTRODUCTION]
    for task in tasks_in_order([*TASK_ORDER, *(row.task for row in rows)]):
        own = [row for row in rows if row.task == task]
        lines += [f"## {task}", "", HEAD, "|---" * 11 + "|"]
        expected = TABLE1 if task in TASK_ORDER else ()
        present = {row.method for row in own if row.recipe == "paper" and not row.changed}
        empty = [Row(task, method, "paper", "", ()) for method in expected if method not in present]
        lines += [_line(row) for row in sorted([*own, *empty], key=_place)]
        lines.append("")
        if task in notes:
            lines += [notes[task].strip(), ""]
        made = [row for row in own if row.recipe == "icct"]
        if made:
            lines += [STAGES_HEAD]
            lines += [_stages(row) for row in sorted(made, key=_place)]
            lines.append("")
    return "\n".join(lines)


def _place(row: Row) -> tuple[int, str, str, str]:
    known = row.method in TABLE1
    return TABLE1.index(row.method) if known else len(TABLE1), row.method, row.recipe, row.changed


def _line(row: Row) -> str:
    """Return one row of a task's table."""
    paper = published(row.task, row.method)
    if not row.records:
        return f"| {row.method} | {row.title} | 0 | | | | not run | not run | | not run | {paper} |"
    steps = sorted(
        {f"{r['config']['steps']:,}" for r in row.records if "steps" in r.get("config", {})}
    )
    cells = [
        row.method,
        row.title,
        str(row.seeds),
        _mean(row.leaves),
        _mean(row.parameters),
        "/".join(steps),
        mean_and_error(row.checkpoints) if row.checkpoints else "",
        mean_and_error(row.selected),
        middle_and_interval(row.selected),
        mean_and_error(row.final) if row.final else "",
        paper,
    ]
    return f"| {' | '.join(cells)} |"


def _mean(sizes: Sequence[int]) -> str:
    """Return sizes that may differ between seeds as one number."""
    if not sizes:
        return ""
    return str(sizes[0]) if len(set(sizes)) == 1 else f"{mean(sizes):.1f}"


def _stages(row: Row) -> str:
    """Return what each stage of the recipe gave."""
    records: Sequence[Record] = row.records
    scores = [mean_and_error([record["teacher"]["fresh"]["mean"] for record in records])]
    for stage in stages(1)[:-1]:
        own = [record[stage]["fresh"]["mean"] for record in records if stage in record]
        scores.append(mean_and_error(own) if own else "-")
    before = [_before_pruning(record) for record in records]
    several = any(record["recipe"].get("passes", 1) > 1 for record in records)
    scores.append(mean_and_error([r["fresh"]["mean"] for r in before]) if several else "-")
    deployed = mean_and_error([record["final"]["fresh"]["mean"] for record in records])
    scores.append(f"**{deployed}**")
    sizes = [
        f"{mean(r['final'][key] for r in records):.1f} ({mean(one[key] for one in before):.1f})"
        for key in ("leaves", "depth", "parameters")
    ]
    taught = [record["environment_steps"]["teach"] for record in records]
    after = mean(record["environment_steps"]["after"] for record in records) / 1000
    steps = f"{'file' if None in taught else f'{mean(taught) / 1000:.0f}'} + {after:.0f}"
    minutes = mean(seconds_after_teaching(record) for record in records) / 60
    search = "/".join(sorted({f"{r['recipe']['polish_episodes']:,}" for r in records}))
    cells = [row.method, str(row.seeds), search, *scores, *sizes, steps, f"{minutes:.1f}"]
    return f"| {' | '.join(cells)} |"


def _before_pruning(record: Record) -> Record:
    """Return what a record says of the last stage before pruning."""
    passed = stages(record["recipe"].get("passes", 1))[:-1]
    last: Record = record[[stage for stage in passed if stage in record][-1]]
    return last


def seconds_after_teaching(record: Record) -> float:
    """Return the seconds that one tree took after its teacher."""
    own = {stage: value for stage, value in record["elapsed_s"].items() if stage != "teach"}
    return float(sum(value for value in own.values() if value))
