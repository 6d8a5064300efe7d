"""What goes wrong, in words: where, what was found, what was expected, what to do next.

Every mistake a user can make ends in an `IcctError`; any other exception is a bug of ours. What a
message quotes from a file may be anything: it is made short and printable here, for all of them.
"""

import difflib
import reprlib
from collections.abc import Iterable
from itertools import islice

LONGEST_MESSAGE = 2000  # characters
LONGEST_QUOTE = 200  # characters, of a value that a message quotes
MOST_GUESSES = 1000  # names to compare a misspelt one with

_SHORT = reprlib.Repr()
_SHORT.maxstring = LONGEST_QUOTE


class IcctError(Exception):
    """The base of every error this package raises on purpose; its text is short and printable."""

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message), LONGEST_MESSAGE, keep="\n"))


class FileError(IcctError):
    """A file cannot be read or written."""


class PolicyError(IcctError):
    """A policy, a policy file or a change to one does not make sense."""


class ObservationError(IcctError):
    """An observation has the wrong length, is not a number, or is not finite."""


class ConfigError(IcctError):
    """An option or a combination of options does not make sense."""


class PropertyError(IcctError):
    """A property, or a file of properties, cannot be read or does not fit the policy."""


class PlantError(IcctError):
    """A plant file does not make sense, or does not fit the policy."""


class TaskError(IcctError):
    """A task, its simulator or one of its workers cannot do what was asked."""


class ExportError(IcctError):
    """A policy cannot be written in the form that was asked for."""


class MissingExtraError(IcctError, ImportError):
    """A package or system library that this feature needs is not installed."""


def printable(text: str, limit: int = LONGEST_QUOTE, keep: str = "") -> str:
    r"""Return the text without what a terminal would obey, and with its middle cut out if long.

    >>> printable("\x1b[2Jspeed")
    '\\x1b[2Jspeed'
    >>> printable("a" * 500 + "b" * 500, limit=30)
    'aaaaaaaaaaaaaaa ... bbbbbbbbbb'
    """
    tail = limit // 3
    for _ in range(2):  # before and after escaping, which makes text longer
        if len(text) > limit:
            text = f"{text[: limit - tail - 5]} ... {text[-tail:]}"
        text = "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)
    return text


def shown(value: object, limit: int = LONGEST_QUOTE) -> str:
    """Return a value of a file as Python would write it, made short.

    >>> shown("speed"), shown([1, 2]), shown("a" * 30, limit=15)
    ("'speed'", '[1, 2]', "'aaaa ... aaaa'")
    """
    return printable(_SHORT.repr(value), limit)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return ` Did you mean '…'?` for the known name closest to `name`, or an empty string.

    >>> did_you_mean("speed_leder", ["gap", "speed_leader"])
    " Did you mean 'speed_leader'?"
    >>> did_you_mean("altitude", ["gap", "speed_leader"])
    ''
    """
    if len(str(name)) > LONGEST_QUOTE:  # comparing takes the product of the lengths
        return ""
    names = [other for other in islice(known, MOST_GUESSES) if len(other) <= LONGEST_QUOTE]
    close = difflib.get_close_matches(str(name), names, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
