"""How a command line is read: argparse, with numbers as people write them and one-line errors."""

import argparse
import types
from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn, Union, get_args, get_origin

from icct.errors import did_you_mean

STOPPED = 130  # the exit status of a verb that Ctrl-C or SIGTERM ended


class Parser(argparse.ArgumentParser):
    """An argument parser that says in one line what is wrong, and what may have been meant."""

    def __init__(self, **options: Any) -> None:
        # argparse makes the parsers of `icct bench speed` and the like of this class too.
        super().__init__(**{"allow_abbrev": False, **options})

    def parse_args(self, words: Any = None, namespace: Any = None) -> Any:
        """Return the options of a command line."""
        self._refuse_unknown_flags(words)  # before argparse, which would first miss what it lacks
        options, unknown = self.parse_known_args(words, namespace)
        if unknown:
            word = unknown[0]
            is_flag = word.startswith("-")
            wrong = f"there is no option {word}." if is_flag else f"{word!r} is one word too many."
            self.error(wrong)
        return options

    def error(self, message: str) -> NoReturn:
        """End the program with status 2 and one line."""
        self.exit(2, f"{self.prog}: {message} See {self.prog} --help.\n")

    def flags(self, words: Sequence[str] = ()) -> set[str]:
        """Return the flags there are, with those of the kind that the words name, if any."""
        known = set(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                named = next((word for word in words if word in action.choices), None)
                known |= action.choices[named].flags() if named else set()
        return known

    def _refuse_unknown_flags(self, words: Sequence[str]) -> None:
        ours = words[: words.index("--")] if "--" in words else words
        known = self.flags(ours)
        for word in ours:
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in known:
                self.error(f"there is no option {flag}.{did_you_mean(flag, known)}")


def whole(text: str) -> int:
    """Return a whole number, which may be written as 100000, 100_000 or 1e5.

    >>> whole("1e5"), whole("100_000")
    (100000, 100000)
    """
    try:
        return int(text)
    except ValueError:
        number = float(text)  # raises the ValueError that argparse expects
    if not number.is_integer():
        raise ValueError(text)
    return int(number)


def converter(kind: Any) -> Callable[[str], Any]:
    """Return what makes a value of an option's type of a flag's text.

    >>> converter(float | tuple[float, ...])("1e-3,3e-4"), converter(int | None)("1e3")
    ((0.001, 0.0003), 1000)
    """
    one, several = _parts(kind)

    def convert(text: str) -> Any:
        words = [word for word in text.split(",") if word.strip()] if several else [text]
        try:
            values = tuple(one(word) for word in words)
        except (ValueError, OverflowError):
            what = "a whole number" if one is whole else "a number"
            raise argparse.ArgumentTypeError(f"{text!r}, expected {what}.") from None
        return values[0] if several != "always" and len(values) == 1 else values

    return convert


def _parts(kind: Any) -> tuple[Callable[[str], Any], str]:
    """Return what reads one value of a type, and whether there may, or always may, be several."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        parts = [_parts(part) for part in get_args(kind) if part is not type(None)]
        return parts[0][0], "sometimes" if len(parts) > 1 else parts[0][1]
    if origin is tuple:
        return _parts(get_args(kind)[0])[0], "always"
    if origin is Literal:
        return str, ""
    simple: dict[Any, Callable[[str], Any]] = {int: whole, float: float, str: str}
    return simple[kind], ""
