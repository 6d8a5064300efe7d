"""Where a proof is kept while it is searched for: one file per batch, read again when it goes on.

Files are numpy archives without pickled objects, written whole or not at all.
"""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from icct.errors import FileError
from icct.files import read_bytes, read_json, write_atomically, write_json
from icct.guarantee.reach import Fate
from icct.guarantee.tube import Tube

VERSION = 1
LARGEST = 2**30  # bytes
QUESTION = "question.json"
FIELDS = ("start", "leaf", "since", "until", "low", "high")


@dataclass(frozen=True)
class Found:
    """What a batch of start boxes has led to."""

    fates: Sequence[Fate]
    tube: Tube  # of the proved boxes; `start` counts the boxes of the batch


class Folder:
    """A folder with the question and what has been found so far.

    Args:
        path: The folder; it is made if it is not there.
        about: The question, as plain values. A folder with another one is refused.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self._path = path
        asked = {"version": VERSION, **about}
        if (path / QUESTION).exists():
            if read_json(path / QUESTION, "the question of a guarantee") != asked:
                raise FileError(
                    f"{path}: holds what was found for another question, plant or policy. Name "
                    "another folder, or remove this one."
                )
            return
        path.mkdir(parents=True, exist_ok=True)
        write_json(path / QUESTION, asked)

    def read(self, wave: int, batch: int) -> Found | None:
        """Return what a batch has led to; None if it has not been looked at."""
        path = self._file(wave, batch)
        if not path.exists():
            return None
        content = io.BytesIO(read_bytes(path, "a batch of a guarantee", LARGEST))
        try:
            with np.load(content, allow_pickle=False) as arrays:
                table = json.loads(str(arrays["fates"]))
                tube = Tube(*(arrays[name] for name in FIELDS))
            return Found([Fate(*row) for row in table], tube)
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise FileError(f"{path}: not a batch of a guarantee ({problem}). Remove it.") from None

    def write(self, wave: int, batch: int, found: Found) -> None:
        """Keep what a batch has led to."""
        content = io.BytesIO()
        fates = [astuple(fate) for fate in found.fates]
        arrays = {name: getattr(found.tube, name) for name in FIELDS}
        np.savez_compressed(content, fates=np.array(json.dumps(fates)), **arrays)
        write_atomically(self._file(wave, batch), content.getvalue())

    def _file(self, wave: int, batch: int) -> Path:
        return self._path / f"wave-{wave:03d}-batch-{batch:05d}.npz"


def digest(text: str) -> str:
    """Return what tells one long text from another."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
