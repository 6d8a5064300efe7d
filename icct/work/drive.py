"""Pieces of work → processes, several at a time, until all is done or the minutes are over.

Each command is a process of its own with a log beside its run. When the minutes are over, or on
Ctrl-C, processes are told to stop by SIGTERM, at which they save what they have; the same call goes
on later.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from icct.work.piece import ICCT, Outcome, Piece, next_piece, unmet_needs

LOOK_EVERY_S = 0.5


@dataclass
class _Running:
    piece: Piece
    left: list[tuple[str, ...]]
    process: "subprocess.Popen[bytes]"


def drive(
    pieces: Sequence[Piece],
    *,
    jobs: int,
    logs: Path,
    minutes: float | None = None,
    say: Callable[[str], None] = print,
) -> Outcome:
    """Do the work, so many pieces at a time, and return what became of it."""
    ends = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    waiting, outcome = list(pieces), Outcome()
    logs.mkdir(parents=True, exist_ok=True)
    with _stopped_in_the_end() as running:
        try:
            while time.monotonic() < ends:
                while len(running) < jobs and (piece := next_piece(waiting)) is not None:
                    waiting.remove(piece)
                    if commands := piece.commands():
                        running.append(_begun(piece, commands, logs, jobs))
                    else:
                        say(f"{piece.name}: recorded, with options that the preset has otherwise")
                if not running:
                    break
                time.sleep(LOOK_EVERY_S)
                _look(running, logs, outcome, jobs, len(waiting), say)
        except KeyboardInterrupt:
            say("stopping; the same command goes on later")
        outcome.stopped += [one.piece.name for one in running]
    for unmet in unmet_needs(waiting):
        say(unmet)
    outcome.stopped += [piece.name for piece in waiting]
    return outcome


def _look(
    running: list[_Running],
    logs: Path,
    outcome: Outcome,
    jobs: int,
    waiting: int,
    say: Callable[[str], None],
) -> None:
    """See which processes have ended: go on with their next command, or note how they ended."""
    for one in [one for one in running if one.process.poll() is not None]:
        running.remove(one)
        status = one.process.returncode
        if status == 0 and one.left:
            running.append(_begun(one.piece, one.left, logs, jobs))
            continue
        say(outcome.note(one.piece, status, logs, waiting))


def _begun(piece: Piece, commands: list[tuple[str, ...]], logs: Path, jobs: int) -> _Running:
    """Start the first of some commands; where several share the cores, each computes on one."""
    words, *left = commands
    threads = {"OMP_NUM_THREADS": "1"} if jobs > 1 else {}
    with (logs / f"{piece.name}.log").open("ab") as output:
        process = subprocess.Popen(
            [*ICCT, *words],
            stdout=output,
            stderr=output,
            env={**os.environ, **threads},
            start_new_session=True,  # a Ctrl-C comes to us, and we tell them
        )
    return _Running(piece, left, process)


@contextmanager
def _stopped_in_the_end() -> Iterator[list[_Running]]:
    """Yield a list of running processes; those that still run are told to stop, and waited for."""
    running: list[_Running] = []
    try:
        yield running
    finally:
        for one in running:
            one.process.send_signal(signal.SIGTERM)
        for one in running:
            one.process.wait()
