"""A piece of work: commands that a person could give, and where it stands, read from its files.

What is left to do is asked for anew whenever a piece is begun: a run that was stopped or killed is
resumed from its last checkpoint, a finished one is recorded, a recorded one is left alone.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from icct.errors import ConfigError
from icct.files import read_json

RUN_FILE = "run.json"
ICCT = (sys.executable, "-c", "from icct.cli.main import main; raise SystemExit(main())")
STOPPED = 130  # the status of a command that was stopped and can go on


@dataclass(frozen=True)
class Piece:
    """A run, or something else that commands make."""

    name: str
    task: str
    begin: tuple[str, ...]  # words of `icct`
    machine: tuple[str, ...]  # options of how to run it here, to begin with and to go on with
    record: tuple[str, ...] = ()  # words of `icct`, when the run is finished
    folder: Path | None = None  # of the run
    records: tuple[Path, ...] = ()  # that it makes
    needs: tuple[Path, ...] = ()  # files, as a rule of other pieces
    trains: bool = True  # else it plays episodes alone, and a GPU is no use to it

    def commands(self) -> list[tuple[str, ...]]:
        """Return what is left to do, as words of `icct`; nothing where it is done."""
        about = self._about()
        if self.folder is None or about is None:
            return [one for one in ((*self.begin, *self.machine), self.record) if one]
        if about.get("elapsed_s") is None:
            return [("train", "--resume", str(self.folder), *self.machine), self.record]
        return [] if all(self._is_of(path, about) for path in self.records) else [self.record]

    def lacks(self) -> list[Path]:
        """Return the files that it needs and that are not there yet."""
        return [path for path in self.needs if not path.exists()]

    def _about(self) -> dict[str, Any] | None:
        """Return what the run's file says; None where the run has not begun."""
        if self.folder is None or not (self.folder / RUN_FILE).exists():
            return None
        about: dict[str, Any] = read_json(self.folder / RUN_FILE, "a run file", error=ConfigError)
        return about

    def _is_of(self, path: Path, about: dict[str, Any]) -> bool:
        """Return whether a record was made of this very run."""
        if not path.exists():
            return False
        record = read_json(path, "a record", error=ConfigError)
        return bool(record.get("started") == about.get("started"))


@dataclass
class Outcome:
    """What became of the pieces, by their names."""

    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)  # or never begun: there is more to do

    @property
    def complete(self) -> bool:
        """Whether nothing failed, and nothing is left to do."""
        return not (self.failed or self.stopped)

    def note(self, piece: Piece, status: int, logs: Path, waiting: int) -> str:
        """Keep how a piece ended, and return it in words."""
        {0: self.done, STOPPED: self.stopped}.get(status, self.failed).append(piece.name)
        log = "" if status == 0 else f", see {logs / piece.name}.log"
        return f"{piece.name}: status {status}{log}; {waiting} wait"


def next_piece(waiting: Sequence[Piece]) -> Piece | None:
    """Return the first piece that can begin."""
    return next((one for one in waiting if not one.lacks()), None)


def unmet_needs(waiting: Sequence[Piece]) -> list[str]:
    """Return what the pieces that never began wait for, in words."""
    return [
        f"{piece.name}: waits for {', '.join(map(str, lacking))}"
        for piece in waiting
        if (lacking := piece.lacks())
    ]
