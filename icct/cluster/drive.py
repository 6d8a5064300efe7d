"""Pieces of work → tasks of a Ray cluster, until all is done or the minutes are over.

A task asks its piece what is left to do when it begins, so one that Ray begins again after a lost
worker or node goes on from the last checkpoint. What is done is told by files alone: a driver that
was killed is started anew and repeats nothing.
"""

import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icct import __version__
from icct.cluster.command import run_command
from icct.cluster.connect import room_for
from icct.errors import ConfigError
from icct.lock import is_held
from icct.work.piece import STOPPED, Outcome, Piece, next_piece, unmet_needs

LOOK_EVERY_S = 0.5
LOCK_FILE = "run.lock"
RETRIES = 20  # of a piece whose worker or node was lost
SUBMITTED = 4  # times as many pieces as there is room for: enough never to be idle
UNLOCKED_WITHIN_S = 60.0  # by a process that ends because its worker was lost


@dataclass(frozen=True)
class Share:
    """What each piece of work takes of its node."""

    cpus: float = 1.0
    gpus: float = 0.0  # of a piece that trains

    def options(self, piece: Piece) -> dict[str, float]:
        """Return what Ray is told of a piece."""
        gpus = self.gpus if piece.trains else 0.0
        return {"num_cpus": self.cpus, "num_gpus": gpus, "max_retries": RETRIES}

    def submit(self, ray: Any, piece: Piece, place: "Place") -> Any:
        """Hand a piece to the cluster, and return Ray's reference to its status."""
        threads = max(1, int(self.cpus))
        return ray.remote(do).options(**self.options(piece)).remote(piece, place, threads)


@dataclass(frozen=True)
class Place:
    """Where the work is done, the same on every node: a file system that they share."""

    cwd: Path
    logs: Path
    version: str = __version__

    def check(self) -> None:
        """Refuse a node that does not see the folders, or has another icct."""
        here = socket.gethostname()
        for folder in (self.cwd, self.logs):
            if not folder.is_dir():
                raise ConfigError(
                    f"node {here} does not see {folder}. Every node needs the folders of the runs "
                    "and the results under the same path, on a file system that they share."
                )
        if __version__ != self.version:
            raise ConfigError(
                f"node {here} has icct {__version__}, and the driver {self.version}. Install the "
                "same on every node."
            )


def drive(
    pieces: Sequence[Piece],
    ray: Any,
    *,
    share: Share,
    logs: Path,
    jobs: int | None = None,
    minutes: float | None = None,
    say: Callable[[str], None] = print,
) -> Outcome:
    """Do the work on a cluster, and return what became of it.

    Args:
        pieces: The work; what others wait for comes first.
        ray: The module, connected.
        share: What each piece takes of its node.
        logs: A folder that all nodes see.
        jobs: Pieces at a time; by default as many as the nodes have room for.
        minutes: Then what is unfinished is stopped, and saved.
        say: Is told how each piece ended.
    """
    ends = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    logs.mkdir(parents=True, exist_ok=True)
    place = Place(Path.cwd(), logs.resolve())
    waiting, outcome, running = list(pieces), Outcome(), dict[Any, Piece]()
    try:
        while time.monotonic() < ends:
            room = jobs or SUBMITTED * max(1, room_for(ray, share.cpus, share.gpus))
            while len(running) < room and (piece := next_piece(waiting)) is not None:
                waiting.remove(piece)
                if piece.commands():
                    running[share.submit(ray, piece, place)] = piece
                else:
                    say(f"{piece.name}: recorded, with options that the preset has otherwise")
            if not running:
                break
            for ended in ray.wait(list(running), timeout=LOOK_EVERY_S)[0]:
                piece = running.pop(ended)
                status = _status(ray, ended, piece, say)
                say(outcome.note(piece, status, logs, len(waiting)))
    except KeyboardInterrupt:
        say("stopping; the same command goes on later")
    finally:
        outcome.stopped += [piece.name for piece in running.values()]
        _stop(ray, list(running))
    for unmet in unmet_needs(waiting):
        say(unmet)
    outcome.stopped += [piece.name for piece in waiting]
    return outcome


def _status(ray: Any, ended: Any, piece: Piece, say: Callable[[str], None]) -> int:
    """Return how a task ended; one that Ray gave up, or that refused, has failed."""
    try:
        status: int = ray.get(ended)
    except ray.exceptions.RayError as error:
        why = getattr(error, "cause", None) or error
        say(f"{piece.name}: {str(why).strip().splitlines()[0]}")
        return 1
    return status


def _stop(ray: Any, running: list[Any]) -> None:
    """Tell tasks to save and end, and wait for them."""
    for ref in running:
        ray.cancel(ref, force=False, recursive=False)
    if running:
        ray.wait(running, num_returns=len(running), timeout=60.0)


def do(piece: Piece, place: Place, threads: int) -> int:
    """Do what is left of a piece of work and return its status; runs in a worker of the cluster."""
    place.check()
    log = place.logs / f"{piece.name}.log"
    try:
        _wait_for_writer(piece)
        for words in piece.commands():
            _note(log, words)
            status = run_command(words, log, place.cwd, threads)
            if status != 0:
                return status
    except KeyboardInterrupt:
        return STOPPED
    return 0


def _wait_for_writer(piece: Piece) -> None:
    """Wait until what an earlier worker had started has ended; it may be on another node."""
    until = time.monotonic() + UNLOCKED_WITHIN_S
    while piece.folder is not None and is_held(piece.folder / LOCK_FILE):
        if time.monotonic() > until:
            return  # the command itself will say who holds it
        time.sleep(LOOK_EVERY_S)


def _note(log: Path, words: Sequence[str]) -> None:
    """Write into the log who does what."""
    when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    who = f"{socket.gethostname()}, worker {os.getpid()}"
    with log.open("a", encoding="utf-8") as file:
        file.write(f"# {when} {who}: icct {' '.join(words)}\n")
