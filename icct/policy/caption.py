"""Node → the lines written in its box, and how wide they are. Where the box stands is layout's."""

import math
import re
import textwrap
from typing import TYPE_CHECKING

from icct.policy.parts import Controller, Leaf, Node, Split
from icct.policy.text import equation, limit_text

if TYPE_CHECKING:
    from icct.policy.policy import Policy

INDENT = "   "
NO_BREAK = "\u00a0"
LONGEST_TERM = 48  # a longer one is broken in the middle of its name
LONGEST_NAME = 32  # of a split's lines
MOST_TERMS = 8  # of an equation's line
MOST_LINES = 6  # of an equation; of a longer rule the largest terms are written


def node_lines(
    policy: "Policy", node: Node, characters: int, most_lines: int = MOST_LINES
) -> tuple[str, ...]:
    """Return what is written in a node: a question with its unit, or one equation per action.

    An equation has lines of so many characters, or of its longest term.
    """
    if isinstance(node, Split):
        feature = policy.features[node.feature]
        limit = pretty(f"<= {limit_text(node.threshold, feature.unit)}")
        return _cut(feature.name, LONGEST_NAME), _cut(limit, LONGEST_NAME)
    lines: list[str] = []
    for position in range(len(policy.actions)):
        lines += _equation_lines(policy, node, position, characters, most_lines)
    return tuple(lines)


def _equation_lines(
    policy: "Policy", leaf: Leaf, position: int, characters: int, most_lines: int
) -> list[str]:
    """Return an equation with as many of its largest terms as fit."""
    rule = leaf.controllers[position]
    by_influence = sorted(rule.weights, key=lambda term: -influence(policy, *term))

    def lines_with(count: int) -> list[str]:
        shorter = Controller(tuple(by_influence[:count]), rule.bias)
        left_out = len(by_influence) - count
        return _wrapped(pretty(equation(policy, position, shorter, left_out=left_out)), characters)

    most = len(by_influence)
    if most <= most_lines * MOST_TERMS and len(whole := lines_with(most)) <= most_lines:
        return whole
    fitting, too_many = -1, min(most, most_lines * MOST_TERMS)
    while too_many - fitting > 1:  # more terms never take fewer lines
        count = (fitting + too_many) // 2
        if len(lines_with(count)) <= most_lines:
            fitting = count
        else:
            too_many = count
    if fitting < 0:
        return [_cut(f"{policy.actions[position].name}: {most} terms", LONGEST_TERM)]
    return lines_with(fitting)


def influence(policy: "Policy", feature: int, weight: float) -> float:
    """Return how far a term can move a rule inside the bounds; its weight where there are none."""
    part = policy.features[feature]
    reach = part.high - part.low
    return abs(weight) * reach if math.isfinite(reach) else abs(weight)


def _wrapped(equation: str, characters: int) -> list[str]:
    """Return an equation in lines; they may end before a sign, not inside `2.10 angle`."""
    name, _, value = equation.partition(" = ")
    joined = re.sub(r"(?<=\d) (?=[^\d\W])|(?<= [+−]) |(?<=\)) | (?=terms)", NO_BREAK, value)
    longest = max(map(len, joined.split(" "))) + len(INDENT)
    width = max(characters, min(longest, LONGEST_TERM))
    lines = textwrap.wrap(f"{name} = {joined}", width, subsequent_indent=INDENT)
    return [line.replace(NO_BREAK, " ") for line in lines]


def pretty(text: str) -> str:
    """Return text with signs for reading: minus, times, at most, powers of units.

    >>> pretty("speed <= -1.00 x 30 m/s^2")
    'speed ≤ −1.00 × 30 m/s²'
    """
    for plain, sign in (("<= ", "≤ "), ("^2", "²"), ("^3", "³")):
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


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
