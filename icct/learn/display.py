"""How a run looks while it trains: one live table on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from icct.learn.train import Status

LINE_AFTER_S, LINE_EVERY_S = 2.0, 15.0  # the first line, and those behind it
MANY_WAITING = 3  # evaluations of each member that have not come back


@contextmanager
def display() -> "Iterator[Callable[[Status], None]]":
    """Yield a function that shows how a run stands, on stderr."""
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), auto_refresh=False) as live:
        yield lambda status: live.update(_table(status), refresh=True)


def _plain_lines() -> "Callable[[Status], None]":
    shown = time.monotonic() - LINE_EVERY_S + LINE_AFTER_S

    def show(status: "Status") -> None:
        nonlocal shown
        if time.monotonic() - shown >= LINE_EVERY_S:
            shown = time.monotonic()
            members = [
                f"{m.group}/{m.seed} {_number(m.recent_return)} (best {_number(m.best_score)})"
                for m in status.members[:8]
            ]
            more = len(status.members) - 8
            members += [f"and {more} more"] if more > 0 else []
            print(f"{_headline(status)}: {', '.join(members)}", file=sys.stderr, flush=True)

    return show


def _table(status: "Status") -> "Table":
    from rich.table import Table

    table = Table(title=_headline(status), title_justify="left")
    for column in ("method", "seed", "return", "last score", "best score", "at step"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for m in status.members:
        at = "" if m.best_step is None else f"{m.best_step:,}"
        numbers = (m.recent_return, m.last_score, m.best_score)
        table.add_row(m.group, str(m.seed), *(_number(n) for n in numbers), at)
    return table


def _headline(status: "Status") -> str:
    share = 100 * status.step / status.steps
    text = f"{status.doing} {status.step:,} of {status.steps:,} steps ({share:.0f} %)"
    if status.steps_per_s is not None:
        text += f", {status.steps_per_s * len(status.members):,.0f} member-steps/s"
    if status.eta_s is not None:
        minutes, seconds = divmod(round(status.eta_s), 60)
        hours, minutes = divmod(minutes, 60)
        text += f", {hours}:{minutes:02}:{seconds:02} left"
    if status.waiting > MANY_WAITING * len(status.members):
        text += f", {status.waiting:,} evaluations wait (--scoring-workers: more at a time)"
    return text


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
