"""What a run measures: one tidy CSV file, TensorBoard events, and a log of sentences.

The CSV has one number per line: step, group, seed, metric, value. It only grows, and a checkpoint
knows how long it was: a resumed run cuts it off there, so that no number stands there twice.
"""

import csv
import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

COLUMNS = ("step", "group", "seed", "metric", "value")


def read_metrics(folder: Path) -> dict[str, list[Any]]:
    """Return the columns of a run's measurements; a last line that is still written is left out."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    kinds = (int, str, int, str, float)
    with (folder / "metrics.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            if len(row) == len(COLUMNS) and tuple(row) != COLUMNS:
                for name, kind, text in zip(COLUMNS, kinds, row, strict=True):
                    columns[name].append(kind(text))
    return columns


class Metrics:
    """The files of measurements of one run folder.

    Args:
        folder: The run folder.
        step: Where the run goes on; 0 for one that begins.
        kept_bytes: How much of the CSV file belongs to the steps before.
    """

    def __init__(self, folder: Path, step: int = 0, kept_bytes: int = 0) -> None:
        path = folder / "metrics.csv"
        with path.open("ab") as file:
            file.truncate(min(kept_bytes, file.tell()))
        self._file = path.open("a", newline="", encoding="utf-8")
        self._rows = csv.writer(self._file)
        if self._file.tell() == 0:
            self._rows.writerow(COLUMNS)
        self._log = (folder / "log.txt").open("a", encoding="utf-8")
        self._folder = folder / "tensorboard"
        self._purge_step = step + 1 if self._folder.exists() else None  # what came after, once more
        self._writers: dict[str, Any] = {}

    def add(self, step: int, group: str, seed: int, **values: float) -> None:
        """Record some numbers of one member."""
        name = f"{group}/seed-{seed}"
        if name not in self._writers:
            from torch.utils.tensorboard import SummaryWriter

            self._writers[name] = SummaryWriter(
                str(self._folder / name), purge_step=self._purge_step
            )
        for metric, value in values.items():
            self._rows.writerow((step, group, seed, metric, f"{value:.6g}"))
            self._writers[name].add_scalar(metric, value, step)

    def say(self, sentence: str) -> None:
        """Write a sentence to the log."""
        self._log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {sentence}\n")
        self._log.flush()

    def flush(self) -> int:
        """Bring everything to the disk, and return the bytes of the CSV file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        for writer in self._writers.values():
            writer.flush()
        return self._file.tell()

    def __enter__(self) -> "Metrics":
        threading.excepthook = _without_writers
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as closing:
            closing.callback(setattr, threading, "excepthook", threading.__excepthook__)
            for one in (self._log, self._file, *self._writers.values()):
                closing.callback(one.close)
            self.flush()


def _without_writers(failure: threading.ExceptHookArgs) -> None:
    """Say nothing of a full disk in TensorBoard's thread: its next call raises the same error."""
    if not issubclass(failure.exc_type, OSError):
        threading.__excepthook__(failure)
