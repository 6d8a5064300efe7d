"""Plant × policy × question → which starts are proved: waves of boxes, those that fail halved.

What is computed does not depend on the number of processes or on interruptions: a wave is cut into
batches by number, each batch is a function of its boxes, and what a batch found is kept in a file.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.synchronize import Event

import numpy as np

from icct.guarantee.folder import Folder, Found
from icct.guarantee.loop import Asked, Loop
from icct.guarantee.reach import Fate, explore
from icct.guarantee.rounding import Array
from icct.guarantee.tube import Tube
from icct.plant import Plant
from icct.policy import Policy

BATCH = 32  # boxes that go forward together
DUST = 2.0**-16  # of a side
Progress = Callable[[int, int], None]  # boxes done, boxes known so far
Corners = tuple[Array, Array]  # low and high, (boxes, states)
Explore = Callable[[Sequence[Corners]], Iterator[Found]]


@dataclass(frozen=True)
class Piece:
    """A start box, and what became of it."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    fate: Fate


@dataclass(frozen=True)
class Search:
    """What was found: every start lies in one of the proved boxes or of the open ones."""

    proved: tuple[Piece, ...]
    open: tuple[Piece, ...]
    tried: int  # boxes in all, those that were halved included
    tube: Tube  # of the proved boxes; its `start` counts them

    @property
    def share(self) -> float:
        """The share of the volume of all starts that is proved, whatever the open boxes do."""
        pieces = (*self.proved, *self.open)
        lengths = np.array([np.subtract(piece.high, piece.low) for piece in pieces])
        volumes = lengths[:, lengths.max(0) > 0].prod(1)
        sure = [piece.fate.proved and not (self.open and piece.fate.returned) for piece in pieces]
        return float(volumes[np.array(sure)].sum() / volumes.sum())


def prove(
    plant: Plant,
    policy: Policy,
    asked: Asked,
    most_boxes: int,
    workers: int = 1,
    folder: Folder | None = None,
    progress: Progress | None = None,
) -> Search:
    """Return which starts are proved, after halving boxes until all are or there are too many."""
    loop = Loop(plant, policy, asked)
    low, high = loop.low[None], loop.high[None]
    proved: list[Piece] = []
    tubes: list[Tube] = []
    wave = tried = 0
    with _explorer(plant, policy, asked, loop, workers) as explore_all:
        while True:
            opened: list[Piece] = []
            for found, corners in _wave(wave, low, high, explore_all, folder):
                tubes.append(_of_proved(found, len(proved)))
                for piece in _pieces(found, corners):
                    (proved if piece.fate.proved else opened).append(piece)
                tried += len(found.fates)
                if progress is not None:
                    progress(tried, max(tried, len(proved) + 3 * len(opened)))
            hopeless = any(_is_dust(piece, loop) for piece in opened)
            if not opened or hopeless or tried + 2 * len(opened) > most_boxes:
                tube = Tube.joined(tubes, loop.states)
                return Search(tuple(proved), tuple(opened), tried, tube)
            wave += 1
            low, high = _halved(opened)


def _wave(
    wave: int, low: Array, high: Array, explore_all: Explore, folder: Folder | None
) -> Iterator[tuple[Found, Corners]]:
    """Yield what the batches of a wave have led to, in order; from the folder where it has them."""
    batches = [(low[i : i + BATCH], high[i : i + BATCH]) for i in range(0, len(low), BATCH)]
    known = {}
    if folder is not None:
        read = ((number, folder.read(wave, number)) for number in range(len(batches)))
        known = {number: found for number, found in read if found is not None}
    fresh = explore_all([batch for number, batch in enumerate(batches) if number not in known])
    for number, batch in enumerate(batches):
        if number in known:
            yield known[number], batch
            continue
        found = next(fresh)
        if folder is not None:
            folder.write(wave, number, found)
        yield found, batch


# -- processes ----------------------------------------------------------------------------------

# Of a worker process: what it explores, and whether it should stop.
_work: tuple[Loop, Callable[[], bool]] | None = None


@contextmanager
def _explorer(
    plant: Plant, policy: Policy, asked: Asked, loop: Loop, workers: int
) -> Iterator[Explore]:
    """Give what explores batches: here, or in worker processes."""
    if workers == 1:
        yield lambda batches: (_explored(loop, batch) for batch in batches)
        return
    spawning = get_context("spawn")
    stop = spawning.Event()
    given = (plant, policy, asked, stop)
    pool = ProcessPoolExecutor(workers, spawning, _begin_worker, given)
    try:
        yield lambda batches: pool.map(_explore_in_worker, batches)
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker(plant: Plant, policy: Policy, asked: Asked, stop: Event) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    _work = Loop(plant, policy, asked), stop.is_set


def _explore_in_worker(batch: Corners) -> Found:
    assert _work is not None
    loop, stop = _work
    return _explored(loop, batch, stop)


def _explored(loop: Loop, batch: Corners, stop: Callable[[], bool] = lambda: False) -> Found:
    fates, tube = explore(loop, *batch, stop)
    proved = np.array([fate.proved for fate in fates])
    return Found(fates, tube.rows(proved[tube.start]))


# -- boxes --------------------------------------------------------------------------------------


def _pieces(found: Found, corners: Corners) -> Iterator[Piece]:
    for low, high, fate in zip(*corners, found.fates, strict=True):
        yield Piece(tuple(low.tolist()), tuple(high.tolist()), fate)


def _of_proved(found: Found, before: int) -> Tube:
    """Return the tube of a batch, its start boxes counted among all the proved ones."""
    proved = np.array([fate.proved for fate in found.fates])
    number = before + np.cumsum(proved) - 1
    return replace(found.tube, start=number[found.tube.start])


def _is_dust(piece: Piece, loop: Loop) -> bool:
    """Return whether a box is so small that halving it again will not help."""
    side = piece.fate.side
    whole = float(loop.high[side] - loop.low[side])
    return piece.high[side] - piece.low[side] <= DUST * whole


def _halved(pieces: Sequence[Piece]) -> Corners:
    """Return both halves of every box."""
    low = np.repeat([piece.low for piece in pieces], 2, axis=0)
    high = np.repeat([piece.high for piece in pieces], 2, axis=0)
    for index, piece in enumerate(pieces):
        side = piece.fate.side
        middle = piece.low[side] / 2 + piece.high[side] / 2
        high[2 * index, side] = low[2 * index + 1, side] = middle
    return low, high
