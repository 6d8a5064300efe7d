"""Colour for verdicts: on terminals alone, and not where NO_COLOR or TERM=dumb asks for none."""

import os
import re
import sys
from typing import TextIO

COLOURS = {"proved": 32, "refuted": 31, "unknown": 33, "vacuous": 33}  # green, red, yellow


def coloured(text: str, verdict: str, stream: TextIO | None = None) -> str:
    """Return a text with its verdict in colour, for the stream it is printed on (stdout).

    >>> coloured("proved   x < 1", "proved")  # no terminal
    'proved   x < 1'
    """
    if verdict not in COLOURS or not takes_colour(stream or sys.stdout):
        return text
    return text.replace(verdict, f"\033[{COLOURS[verdict]}m{verdict}\033[0m", 1)


def coloured_cells(table: str, stream: TextIO | None = None) -> str:
    """Return a table with the verdicts in colour that stand at the beginning of a cell."""
    if not takes_colour(stream or sys.stdout):
        return table
    words = re.compile(rf"(?<=  )({'|'.join(COLOURS)})\b")
    return words.sub(lambda found: f"\033[{COLOURS[found[1]]}m{found[1]}\033[0m", table)


def takes_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal whose user has not asked for plain text."""
    return (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )
