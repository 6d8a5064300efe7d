"""tune(folder, task, ...) → the front of return against active parameters.

Trees are asked for in rounds of a fixed size, and told in their order: what is asked depends on
the search alone, not on who is quick. To go on after a stop is to ask again and let the files of
finished trees answer first, as a polishing run does with its journal; no database is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from icct.envs.task import Task
from icct.tune.config import Tuning
from icct.tune.folder import Scored, TuneFolder
from icct.tune.front import front_of, write_front
from icct.tune.items import CONFIRM, TEACH, TRY, taught, tree_name
from icct.tune.sampler import ROUND, Sampler
from icct.work.piece import Outcome, Piece

Drive = Callable[[Sequence[Piece]], Outcome]


@dataclass(frozen=True)
class Tuned:
    """What a search found."""

    folder: TuneFolder
    trees: tuple[Scored, ...]
    front: tuple[Scored, ...]  # smallest first
    outcome: Outcome  # of the last pieces of work


@dataclass(frozen=True)
class Worker:
    """How an item is done by a process of its own: the words that name the task, and how to run."""

    words: tuple[str, ...]
    device: str = "auto"
    workers: int = 1

    def piece(self, folder: Path, task: Task, item: str) -> Piece:
        """Return the piece of work that does an item."""
        words = (*self.words, "--out", str(folder), "--item", item)
        machine = ("--device", self.device, "--workers", str(self.workers))
        trains = item.startswith(TEACH)
        return Piece(item.replace(":", "-"), task.name, words, machine, trains=trains)


def tune(
    out: Path, task: Task, tuning: Tuning, drive: Drive, worker: Worker, title: str = ""
) -> Tuned:
    """Search over sizes and recipes of a task in a folder, or go on with the search in it.

    Args:
        out: The folder.
        task: The task.
        tuning: What to search over.
        drive: Does pieces of work, here or on a cluster.
        worker: How an item is done.
        title: Of the figure; by default the task.
    """
    folder = TuneFolder(out)
    folder.claim(tuning, task)

    def done(items: Sequence[str]) -> Outcome:
        return drive([worker.piece(out, task, item) for item in items])

    untaught = [size for size in _sizes(tuning) if not taught(folder, task, size)]
    outcome = done([f"{TEACH}:{size}" for size in untaught])
    trees: list[Scored] = []
    sampler = Sampler(tuning)
    for first in range(0, tuning.budget, ROUND):
        if not outcome.complete:
            break
        names = [tree_name(n) for n in range(first, min(tuning.budget, first + ROUND))]
        for name, setting in zip(names, sampler.ask(len(names)), strict=True):
            folder.ask(name, setting)
        outcome = done([f"{TRY}:{name}" for name in names if folder.score(name) is None])
        scores = [folder.score(name) for name in names]
        trees += [scored for scored in scores if scored is not None]
        if outcome.complete:
            sampler.tell(trees[first:])
    front = front_of(trees)
    if outcome.complete:
        unconfirmed = [o.name for o in front if not folder.trial(o.name, ".fresh.json").exists()]
        outcome = done([f"{CONFIRM}:{name}" for name in unconfirmed])
        if outcome.complete:
            write_front(folder, trees, front, title or task.title)
    return Tuned(folder, tuple(trees), tuple(front), outcome)


def _sizes(tuning: Tuning) -> Sequence[int]:
    return () if tuning.teacher_files else tuning.teacher_leaves
