"""Progress on stderr: a bar with the time left on a terminal, rare plain lines elsewhere."""

import sys
import time

BAR_CELLS = 30
PLAIN_EVERY_S = 10.0


class ProgressBar:
    """Call it with (done, in all); use it as a context, so that the line is cleaned up."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._printed = 0.0  # never
        self._terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Show how far the work is."""
        now = time.monotonic()
        left_s = (now - self._began) / done * (total - done)
        text = f"{done} of {total} {self._what}, {clock(left_s)} left"
        if self._terminal:
            cells = BAR_CELLS * done // total
            bar = "█" * cells + "░" * (BAR_CELLS - cells)
            print(f"\r\033[K{bar} {text}", end="", file=sys.stderr, flush=True)
        elif now - max(self._printed, self._began) >= PLAIN_EVERY_S or (
            not self._printed and left_s >= PLAIN_EVERY_S  # the first estimate, at once
        ):
            self._printed = now
            print(text, file=sys.stderr, flush=True)

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def say_estimate(what: str, seconds: float | None) -> None:
    """Say on stderr what will be done and how long it takes, where that is known."""
    about = "" if seconds is None else f": about {clock(seconds)}"
    print(f"{what}{about}", file=sys.stderr, flush=True)


def clock(seconds: float) -> str:
    """Return a duration as people read it.

    >>> clock(7.2), clock(75), clock(3700)
    ('7 s', '1:15 min', '1:01 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"
