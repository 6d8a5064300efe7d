"""The memory of a search: every answer of its game, one line each, in a file that only grows.

The search is a function of its start and of these answers. To resume is to run it again and let
the file answer first: nothing is unpickled, and a run that was killed loses at most the answer it
was waiting for. The time is remembered with each answer, so that decisions by the clock repeat.

Other numerical libraries round otherwise, and then the search asks other questions: each answer has
the digest of its question, and does not serve for another.
"""

import contextlib
import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TextIO

from icct.errors import ConfigError, shown
from icct.files import json_from, read_bytes
from icct.policy import Policy
from icct.polish.game import Game, Question, Table

FORMAT = "icct-polish-journal"
VERSION = 2
LARGEST = 2**30  # bytes; a million episodes take 20 MiB
# The digest of the question, the seconds since the start, and the returns.
Answer = tuple[str, float, list[list[float]]]


class Journal:
    """A game that counts its episodes and its time, and remembers what was answered.

    Args:
        game: Who plays.
        path: The file; None remembers nothing.
        about: What the run is: start, task, budget, seed. A journal of another run is refused.
        resume: Whether to go on with the file; else there must be none.
    """

    def __init__(self, game: Game, path: Path | None, about: dict[str, Any], resume: bool) -> None:
        self.episodes = 0  # asked for so far, the observed ones included
        self._game, self._path = game, path
        self._known: deque[Answer] = deque()
        self._file: TextIO | None = None
        if path is not None:
            head = {"format": FORMAT, "version": VERSION, **about}
            if resume:
                self._known, complete = _read(path, head)
                os.truncate(path, complete)  # a line that was cut off by a kill
            self._file = _open(path, "a" if resume else "x")
            if not resume:
                self._write(head)
        # The seconds the run had taken at the last answer, those before a resume included. Nobody
        # reads the clock at another time: what the search decides by it can then be repeated.
        self.elapsed_s = 0.0
        self._since = time.monotonic()

    def returns(self, questions: Sequence[Question]) -> list[list[float]]:
        """Return the return of each episode of each question, remembered or played now."""
        self.episodes += sum(len(seeds) for _, seeds in questions)
        return self.answer(questions, lambda: self._game.returns(questions))

    def answer(self, question: object, play: Callable[[], list[list[float]]]) -> list[list[float]]:
        """Return the answer to a question: remembered, or else what `play` returns now.

        Args:
            question: What is asked; `repr` says all of it.
            play: Finds the answer.
        """
        if self._known:
            asked, self.elapsed_s, remembered = self._known.popleft()
            self._since = time.monotonic()
            if asked != _digest(question):
                raise ConfigError(
                    f"{self._path}: what the search asks now is not what this journal answers. It "
                    "was written on another machine, with other numerical libraries, or by another "
                    "version. Go on there, or remove the file and begin this search anew."
                )
            return remembered
        found = play()
        now = time.monotonic()
        self.elapsed_s, self._since = self.elapsed_s + now - self._since, now
        if self._file is not None:
            line = {"asked": _digest(question), "elapsed_s": self.elapsed_s, "returns": found}
            self._write(line)
        return found

    def observations(self, policy: Policy, seeds: Sequence[int]) -> Table:
        """Return all that the policy sees in these episodes; never remembered, played again."""
        self.episodes += len(seeds)
        return self._game.observations(policy, seeds)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # what a full disk refused was reported
                self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        assert self._file is not None
        try:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise ConfigError(
                f"{self._file.name}: cannot be written: {error.strerror}. Make room and go on with "
                "--resume."
            ) from None


def _digest(question: object) -> str:
    """Return a few letters that stand for what is asked, such as policies and episodes."""
    return hashlib.blake2b(repr(question).encode(), digest_size=8).hexdigest()


def _open(path: Path, mode: Literal["a", "x"]) -> TextIO:
    try:
        return path.open(mode, encoding="utf-8")
    except FileExistsError:
        raise ConfigError(
            f"{path} remembers a run that was stopped. Go on with --resume, or begin anew with "
            "--force."
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from None


def _read(path: Path, head: dict[str, Any]) -> tuple[deque[Answer], int]:
    """Return the answers in a journal, and how many of its bytes are complete lines."""
    if not path.exists():
        raise ConfigError(f"{path}: there is nothing to resume. Run it without --resume.")
    content = read_bytes(path, "the journal of a search", LARGEST, ConfigError)
    complete = content.rfind(b"\n") + 1
    try:
        found, *lines = [json_from(line, ConfigError) for line in content[:complete].splitlines()]
        answers = deque(_answer(line) for line in lines)
    except (ConfigError, TypeError, ValueError, KeyError):
        raise ConfigError(
            f"{path} is not the journal of a search, or damaged. Begin anew with --force."
        ) from None
    for key, expected in head.items():
        told = found.get(key) if isinstance(found, dict) else None
        if told != expected:
            raise ConfigError(
                f"{path} is of another run: its {key} is {shown(told)}, and now it is "
                f"{expected!r}. Give the same options, or begin anew with --force."
            )
    return answers, complete


def _answer(line: Any) -> Answer:
    """Return what a line of the journal tells, or raise a TypeError, ValueError or KeyError."""
    asked, elapsed_s, returns = line["asked"], line["elapsed_s"], line["returns"]
    numbers = [elapsed_s, *(value for episodes in returns for value in episodes)]
    if not all(type(value) in (int, float) for value in numbers):
        raise TypeError("expected numbers")
    return str(asked), float(elapsed_s), returns
