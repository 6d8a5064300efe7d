"""Text of a property → its words, with the column of each; a number may carry a unit."""

import re
from dataclasses import dataclass
from typing import NoReturn

from icct.errors import PropertyError
from icct.policy.quantity import DECIMAL, UNIT

TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign><=|>=|==|!=|[-+*/()<>=])",
    re.ASCII,
)
QUANTITY = re.compile(rf"(?P<number>{DECIMAL}) *(?P<unit>{UNIT})", re.ASCII)
KEYWORDS = ("when", "then", "and", "or", "not", "abs")


@dataclass(frozen=True)
class Token:
    """One word of a property; `column` counts from 1."""

    kind: str  # number, name, keyword, sign or end
    text: str
    column: int
    unit: str = ""  # of a number: `m/s` in `3.9 m/s`
    end: int = 0  # the column behind it, unit included


def fail(text: str, column: int, what: str) -> NoReturn:
    """Raise the error that shows the property with a mark under the column."""
    start = max(0, column - 61)  # a long property is cut to what surrounds the mark
    shown = text[start : start + 100]
    raise PropertyError(f"column {column}: {what}\n  {shown}\n  {' ' * (column - 1 - start)}^")


def tokens(text: str) -> list[Token]:
    """Return the words of a property, with an end mark.

    >>> [(token.text, token.unit) for token in tokens("speed > 3.9 m/s")]
    [('speed', ''), ('>', ''), ('3.9', 'm/s'), ('the end', '')]
    """
    found, at = [], 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        match = QUANTITY.match(text, at)
        if match is not None and match["unit"] not in KEYWORDS:
            found.append(Token("number", match["number"], at + 1, match["unit"], match.end() + 1))
            at = match.end()
            continue
        match = TOKEN.match(text, at)
        if match is None:
            fail(
                text,
                at + 1,
                f"found {text[at]!r}, expected a name, a number, a comparison or one of "
                f"{', '.join(KEYWORDS)}.",
            )
        kind = "keyword" if match[0] in KEYWORDS else str(match.lastgroup)
        found.append(Token(kind, match[0], at + 1, end=match.end() + 1))
        at = match.end()
    return [*found, Token("end", "the end", len(text) + 1)]
