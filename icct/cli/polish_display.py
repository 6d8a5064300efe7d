"""How polishing looks while it runs: one line that changes on a terminal, plain lines elsewhere."""

import sys
import time
from typing import TYPE_CHECKING

from icct.cli.progress import clock

if TYPE_CHECKING:
    from icct.polish import Status

SHOW_EVERY_S = {True: 0.5, False: 15.0}  # on a terminal, and elsewhere


class PolishDisplay:
    """Progress on stderr; use it as a context, so that the line is cleaned up."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._shown = time.monotonic()

    def __call__(self, status: "Status") -> None:
        """Show how the run stands."""
        now = time.monotonic()
        if now - self._shown < SHOW_EVERY_S[self._terminal]:
            return
        self._shown = now
        if self._terminal:
            print(f"\r\033[K{line_of(status)}", end="", file=sys.stderr, flush=True)
        else:
            print(line_of(status), file=sys.stderr, flush=True)

    def __enter__(self) -> "PolishDisplay":
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def line_of(status: "Status") -> str:
    """Return how a run stands in one line."""
    left_s = status.elapsed_s * (1 - status.fraction) / max(status.fraction, 1e-9)
    rate = status.episodes / max(status.elapsed_s, 1e-9)
    return (
        f"generation {status.generation}: best {status.best:.1f}; validated "
        f"{status.incumbent:.1f} (start {status.start:.1f}); {status.restarts} restarts; "
        f"{status.episodes:,} episodes, {rate:.0f}/s, {clock(left_s)} left"
    )
