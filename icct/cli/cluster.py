"""`--cluster` on a command line: the same work, here or on the nodes of a Ray cluster."""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.errors import ConfigError

if TYPE_CHECKING:
    from icct.cluster.drive import Share
    from icct.polish.game import MakePool
    from icct.work.piece import Outcome, Piece

CLUSTER = "a Ray cluster: HOST:PORT of its head, auto, or local to start one here"
Drive = Callable[["Sequence[Piece]"], "Outcome"]


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where pieces of work are done, and what each of them takes there."""
    group = parser.add_argument_group("options of a cluster")
    group.add_argument("--cluster", metavar="ADDRESS", help=f"work on {CLUSTER}")
    group.add_argument("--cpus", type=float, default=1.0, help="of each run (default 1)")
    group.add_argument(
        "--gpus", type=float, default=0.0, help="share of a GPU for each run, such as 0.25"
    )


def device_of(options: argparse.Namespace) -> str:
    """Return the device of each run: on a cluster it is what the run has a share of."""
    if options.cluster is None:
        if options.gpus or options.cpus != 1.0:
            raise ConfigError("--cpus and --gpus are shares of a node: they go with --cluster.")
        return str(options.device)
    if not 0 < options.cpus < 1e6 or not 0 <= options.gpus < 1e6:
        raise ConfigError(
            f"--cpus {options.cpus:g} --gpus {options.gpus:g}: expected more than 0 CPUs, and a "
            "share of a GPU or none."
        )
    if options.device == "cuda" and not options.gpus:
        raise ConfigError("--device cuda on a cluster needs a share of a GPU, such as --gpus 0.25.")
    return "cuda" if options.gpus and options.device != "cpu" else "cpu"


@contextmanager
def driving(
    options: argparse.Namespace, logs: Path, jobs: int, say: Callable[[str], None] = print
) -> Iterator[tuple[Drive, int]]:
    """Yield what does pieces of work, and how many it does at a time.

    Args:
        options: Of the command line.
        logs: The folder of the pieces' logs; one driver at a time works there.
        jobs: Pieces at a time on this machine; on a cluster `--jobs` alone limits them.
        say: Is told how each piece ended.
    """
    ends = math.inf if options.minutes is None else time.monotonic() + 60 * options.minutes

    def left() -> float | None:
        return None if ends == math.inf else max(0.0, ends - time.monotonic()) / 60

    with nullcontext() if options.plan else _only_driver(logs):
        if options.cluster is None:
            from icct.work.drive import drive as drive_here

            here = partial(drive_here, jobs=jobs, logs=logs, say=say)
            together = min(jobs, len(os.sched_getaffinity(0)))
            yield lambda work: here(work, minutes=left()), together
            return
        from icct.cluster.connect import connected
        from icct.cluster.drive import Share, drive

        share = Share(options.cpus, options.gpus)
        with connected(options.cluster) as ray:
            together = max(1, min(_room(ray, share), options.jobs or sys.maxsize))
            there = partial(drive, ray=ray, share=share, logs=logs, jobs=options.jobs, say=say)
            yield lambda work: there(work, minutes=left()), together


@contextmanager
def _only_driver(logs: Path) -> Iterator[None]:
    """Refuse a second driver of the same work; the lock of one that was killed is free."""
    from icct.lock import only_writer

    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{logs}: cannot be written: {error.strerror}.") from None
    with only_writer(logs, logs / "driver.lock"):
        yield


def _room(ray: Any, share: "Share") -> int:
    """Say what the cluster has, and return how many pieces it has room for at a time."""
    from icct.cluster.connect import describe, room_for

    print(f"cluster: {describe(ray)}", file=sys.stderr)
    room = room_for(ray, share.cpus, share.gpus)
    if not room:
        needs = f"{share.cpus:g} CPUs and {share.gpus:g} GPUs"
        print(f"no node has room for a run of {needs} now; the work waits for one", file=sys.stderr)
    return room


@contextmanager
def players(options: argparse.Namespace) -> "Iterator[MakePool | None]":
    """Yield what makes the players of a search on a cluster; None for those of this machine."""
    if options.cluster is None:
        yield None
        return
    if options.workers is not None:
        raise ConfigError("--workers is of this machine; with --cluster every CPU of it plays.")
    from icct.cluster.connect import connected, describe
    from icct.cluster.episodes import ClusterPool

    with connected(options.cluster) as ray:
        print(f"cluster: {describe(ray)}", file=sys.stderr)
        yield partial(ClusterPool, ray)
