"""The memory of a run: every answer of its game, one line each, in a file that only grows.

The search is a function of its start and of these answers. To resume is to run it again and let
the file answer first: nothing is unpickled, and a run that was killed loses at most the answer it
was waiting for. The time is remembered with each answer, so that decisions by the clock repeat.
"""

import json
import os
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TextIO

from icct.errors import ConfigError
from icct.policy import Policy
from icct.polish.game import Game, Question, Table

FORMAT = "icct-polish-journal"
VERSION = 1


class Journal:
    """A game that counts its episodes and its time, and remembers what was answered.

    Args:
        game: Who plays.
        path: The file; None remembers nothing.
        about: What the run is: start, task, budget, seed. A journal of another run is refused.
        resume: Whether to go on with the file, else it is begun anew.
    """

    def __init__(self, game: Game, path: Path | None, about: dict[str, Any], resume: bool) -> None:
        self.episodes = 0  # asked for so far, the observed ones included
        self._game = game
        self._known: deque[dict[str, Any]] = deque()
        self._file: TextIO | None = None
        if path is not None:
            head = {"format": FORMAT, "version": VERSION, **about}
            if resume:
                self._known, complete = _read(path, head)
                os.truncate(path, complete)  # a line that was cut off by a kill
            self._file = _open(path, "a" if resume else "w")
            if not resume:
                self._write(head)
        # The seconds the run had taken at the last answer, those before a resume included. Nobody
        # reads the clock at another time: what the search decides by it can then be repeated.
        self.elapsed_s = 0.0
        self._since = time.monotonic()

    def returns(self, questions: Sequence[Question]) -> list[list[float]]:
        """Return the return of each episode of each question, remembered or played now."""
        self.episodes += sum(len(seeds) for _, seeds in questions)
        if self._known:
            line = self._known.popleft()
            self.elapsed_s, self._since = line["elapsed_s"], time.monotonic()
            remembered: list[list[float]] = line["returns"]
            if [len(r) for r in remembered] != [len(seeds) for _, seeds in questions]:
                raise ConfigError(
                    "The journal is of another run: its answers do not fit the questions. Give "
                    "the same options, or run without --resume."
                )
            return remembered
        answer = self._game.returns(questions)
        now = time.monotonic()
        self.elapsed_s, self._since = self.elapsed_s + now - self._since, now
        if self._file is not None:
            self._write({"elapsed_s": self.elapsed_s, "returns": answer})
        return answer

    def observations(self, policy: Policy, seeds: Sequence[int]) -> Table:
        """Return all that the policy sees in these episodes; never remembered, played again."""
        self.episodes += len(seeds)
        return self._game.observations(policy, seeds)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _open(path: Path, mode: Literal["a", "w"]) -> TextIO:
    try:
        return path.open(mode, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from None


def _read(path: Path, head: dict[str, Any]) -> tuple[deque[dict[str, Any]], int]:
    """Return the answers in a journal, and how many of its bytes are complete lines."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path}: there is nothing to resume ({error.strerror}). Run it without --resume."
        ) from None
    complete = content.rfind(b"\n") + 1
    try:
        found, *answers = [json.loads(line) for line in content[:complete].splitlines()]
        assert all({"elapsed_s", "returns"} == set(line) for line in answers)
    except (ValueError, TypeError, AssertionError):
        raise ConfigError(
            f"{path} is not the journal of a polishing run. Run it without --resume."
        ) from None
    for key, expected in head.items():
        if found.get(key) != expected:
            raise ConfigError(
                f"{path} is of another run: its {key} is {found.get(key)!r}, and now it is "
                f"{expected!r}. Give the same options, or run without --resume."
            )
    return deque(answers), complete
