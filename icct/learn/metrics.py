"""What a run measures: one tidy CSV file, TensorBoard events, and a log of sentences.

The CSV has one number per line: step, group, seed, metric, value. A resumed run first cuts off
what lies after its checkpoint, so that no number stands there twice.
"""

import csv
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any

COLUMNS = ("step", "group", "seed", "metric", "value")


class Metrics:
    """The files of measurements of one run folder."""

    def __init__(self, folder: Path, resumed_at: int | None = None) -> None:
        self._path = folder / "metrics.csv"
        if resumed_at is not None and self._path.exists():
            self._cut(resumed_at)
        new = not self._path.exists()
        self._file = self._path.open("a", newline="", encoding="utf-8")
        self._rows = csv.writer(self._file)
        if new:
            self._rows.writerow(COLUMNS)
        self._log = (folder / "log.txt").open("a", encoding="utf-8")
        self._folder = folder / "tensorboard"
        self._writers: dict[str, Any] = {}

    def add(self, step: int, group: str, seed: int, **values: float) -> None:
        """Record some numbers of one member."""
        name = f"{group}/seed-{seed}"
        if name not in self._writers:
            from torch.utils.tensorboard import SummaryWriter

            self._writers[name] = SummaryWriter(str(self._folder / name))
        for metric, value in values.items():
            self._rows.writerow((step, group, seed, metric, f"{value:.6g}"))
            self._writers[name].add_scalar(metric, value, step)

    def say(self, sentence: str) -> None:
        """Write a sentence to the log."""
        self._log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {sentence}\n")
        self._log.flush()

    def flush(self) -> None:
        """Bring everything to the disk."""
        self._file.flush()
        for writer in self._writers.values():
            writer.flush()

    def __enter__(self) -> "Metrics":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.flush()
        self._file.close()
        self._log.close()
        for writer in self._writers.values():
            writer.close()

    def _cut(self, step: int) -> None:
        kept = self._path.with_name(".metrics.csv")
        with (
            self._path.open(newline="", encoding="utf-8") as old,
            kept.open("w", newline="", encoding="utf-8") as new,
        ):
            rows = csv.reader(old)
            writer = csv.writer(new)
            writer.writerow(next(rows, COLUMNS))
            # A line cut short by a kill is left out as well.
            writer.writerows(
                row for row in rows if len(row) == len(COLUMNS) and int(row[0]) <= step
            )
        os.replace(kept, self._path)
