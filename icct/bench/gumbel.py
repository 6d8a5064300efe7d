"""Rows → the ablation of Gumbel noise, as trained and made crisp, beside the paper's."""

from collections.abc import Sequence

from icct.bench.cells import GUMBEL as METHODS
from icct.bench.evidence import Row, chosen
from icct.bench.sizes import CRISP
from icct.bench.sizes import GUMBEL as NOISY
from icct.bench.statistics import mean_and_error
from icct.bench.tables import GUMBEL_TASKS, published

INTRODUCTION = """\
Noise in every choice while training, instead of a differentiable argmax. *Crisp* is the same tree
without noise, here without any at all; the authors' crisp version still draws it in sparse
leaves. Best checkpoint and, for crisp trees, fresh episodes. `icct bench gumbel` makes the rows.
"""


def gumbel_table(rows: Sequence[Row]) -> str:
    """Return the table; what was not run says so."""
    head = " | ".join(f"{task} | paper" for task in GUMBEL_TASKS)
    lines = [INTRODUCTION, f"| method | {head} |", "|---" * (1 + 2 * len(GUMBEL_TASKS)) + "|"]
    for base in METHODS:
        for method in (base, f"{base}{NOISY}", f"{base}{NOISY}{CRISP}"):
            cells = []
            for task in GUMBEL_TASKS:
                row = chosen(rows, task, method, "paper")
                values = [] if row is None else row.checkpoints or row.selected
                mark = "†" if row is not None and row.changed else ""
                cells.append(f"{mean_and_error(values)}{mark}" if values else "not run")
                cells.append(published(task, method))
            lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
