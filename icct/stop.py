"""Ctrl-C and SIGTERM as a request that long work looks at where stopping is safe.

Slurm, Docker and systemd send SIGTERM, a terminal sends SIGINT to every process of the job: both
ask the same. A second one does not wait: it interrupts at once, and what was saved before is kept.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
Handler = Callable[[int, FrameType | None], object]


class Stop:
    """Whether somebody has asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if somebody has asked to stop; called where that is safe."""
        if self.requested:
            raise KeyboardInterrupt

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def stop_requests() -> Iterator[Stop]:
    """Yield what Ctrl-C and SIGTERM set, instead of ending the program, until the context ends.

    Signals that this process ignores stay ignored. Python hears signals in its main thread alone:
    in another one nothing is changed, and nothing is ever requested.
    """
    stop = Stop()
    with _handled(stop._hear):
        yield stop


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, raise `KeyboardInterrupt`, until the context ends."""
    with _handled(signal.default_int_handler, (signal.SIGTERM,)):
        yield


@contextmanager
def _handled(handler: Handler, numbers: Sequence[int] = STOP_SIGNALS) -> Iterator[None]:
    before = {}
    try:
        for number in numbers:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):  # None: not Python's
                before[number] = signal.signal(number, handler)
    except ValueError:  # not the main thread
        pass
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
