"""Node → the lines written in its box, and how wide they are. Where the box stands is layout's."""

import re
import textwrap

from icct.policy.parts import Node, Split
from icct.policy.policy import Policy
from icct.policy.text import leaf_rules, with_unit

INDENT = "   "
NO_BREAK = "\u00a0"
LONGEST_TERM = 48  # a longer one is broken in the middle of its name
LONGEST_NAME = 32  # of a split's lines
MOST_LINES = 6  # of an equation; a rule over 44 features is shortened


def node_lines(policy: Policy, node: Node, characters: int) -> tuple[str, ...]:
    """Return what is written in a node: a question with its unit, or one equation per action.

    An equation has lines of so many characters, or of its longest term.
    """
    if isinstance(node, Split):
        feature = policy.features[node.feature]
        limit = pretty(f"> {_threshold(node.threshold, feature.unit)}")
        return _cut(feature.name, LONGEST_NAME), _cut(limit, LONGEST_NAME)
    lines: list[str] = []
    for rule, equation in zip(node.controllers, leaf_rules(policy, node), strict=True):
        wrapped = _wrapped(pretty(equation), characters)
        if len(wrapped) > MOST_LINES:
            rest = f"{INDENT}… {len(rule.weights)} terms in all"
            wrapped = [*wrapped[: MOST_LINES - 1], rest]
        lines += wrapped
    return tuple(lines)


def _wrapped(equation: str, characters: int) -> list[str]:
    """Return an equation in lines; they may end before a sign, not inside `2.10 angle`."""
    name, _, value = equation.partition(" = ")
    joined = re.sub(r"(?<=\d) (?=[^\d\W])|(?<= [+−]) |(?<=\)) ", NO_BREAK, value)
    longest = max(map(len, joined.split(" "))) + len(INDENT)
    width = max(characters, min(longest, LONGEST_TERM))
    lines = textwrap.wrap(f"{name} = {joined}", width, subsequent_indent=INDENT)
    return [line.replace(NO_BREAK, " ") for line in lines]


def pretty(text: str) -> str:
    """Return text with signs for reading: minus, times, at most, powers of units.

    >>> pretty("speed <= -1.00 x 30 m/s^2")
    'speed ≤ −1.00 × 30 m/s²'
    """
    for plain, sign in ((" <= ", " ≤ "), ("^2", "²"), ("^3", "³")):
        text = text.replace(plain, sign)
    text = re.sub(r"-(?=[\d ])", "−", text)
    return re.sub(r"(?<=[\d)] )x(?= \d)", "×", text)


def text_width(text: str) -> float:
    """Return about how wide a line of text is in a sans-serif font, rather too wide."""
    return sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if ord(letter) > 0x2E7F:  # East Asian letters fill a square
        return 1.1
    for letters, width in (("ijlI|!.,:;'f ()[]", 0.4), ("rt²³", 0.43), ("s_-/czkvxy", 0.6)):
        if letter in letters:
            return width
    return 1.0 if letter in "mwMW%@…" else 0.86 if letter in "=+−<>×&" else 0.66


def _threshold(value: float, unit: str) -> str:
    # Units such as "0 or 1" would read as a second number.
    return with_unit(value, f"({unit})" if unit[:1].isdigit() else unit)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
