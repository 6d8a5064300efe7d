"""Policy → LaTeX: a TikZ figure in a document of its own, at the positions of policy/layout.py.

It compiles by itself; a paper takes the PDF, or the picture between `begin` and `end`.
"""

from collections.abc import Iterator

from icct.export.about import about
from icct.policy import Policy
from icct.policy.caption import INDENT
from icct.policy.edges import answer, answer_place, edge_points
from icct.policy.layout import PADDING, TAG, Layout, NodeBox, layout
from icct.policy.reach import folds, unreached

SPECIAL = {
    **{letter: f"\\{letter}" for letter in "#$%&_{}"},
    "\\": "\\textbackslash{}",
    "^": "\\textasciicircum{}",
    "~": "\\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "{''}",
    "−": "$-$",
    "×": "$\\times$",
    "≤": "$\\le$",
    "²": "$^2$",
    "³": "$^3$",
    "°": "$^\\circ$",
    "µ": "$\\mu$",
    "·": "$\\cdot$",
    "…": "\\dots{}",
    "-": "{-}",  # no ligatures: two hyphens stay two
    "'": "{'}",
    "`": "{`}",
}
PREAMBLE = r"""\documentclass[tikz,border=4pt]{standalone}
\definecolor{splitfill}{HTML}{DBE8F7}
\definecolor{splitedge}{HTML}{2F6DB3}
\definecolor{leaffill}{HTML}{FBDEDB}
\definecolor{leafedge}{HTML}{C23B33}
\definecolor{quiet}{HTML}{8A8F98}
\begin{document}
\sffamily\small
\begin{tikzpicture}[x=1em, y=-1em,
  box/.style={rounded corners=0.4em, line width=0.6pt},
  split/.style={box, draw=splitedge, fill=splitfill},
  leaf/.style={box, draw=leafedge, fill=leaffill},
  unreached/.style={box, draw=quiet, fill=white, text=quiet},
  edge/.style={draw=quiet, line width=0.6pt},
  answer/.style={inner sep=0, font=\sffamily\scriptsize},
  tag/.style={inner sep=1.5pt, fill=white, font=\sffamily\tiny}]"""


def export_latex(policy: Policy) -> str:
    """Return a LaTeX document with the tree as a TikZ picture.

    >>> from icct.zoo import zoo_policy
    >>> print(export_latex(zoo_policy("ring-cruiser")).splitlines()[0])
    % ring-cruiser: 3 leaves, depth 2, 11 parameters, 44 features, 1 action
    """
    return "\n".join(_lines(policy)) + "\n"


def latex_text(text: str) -> str:
    r"""Return text that LaTeX prints letter by letter; letters it may not have, by their number.

    >>> print(latex_text("50% of_a \\end{document} 中"))
    50\% of\_a \textbackslash{}end\{document\} [U+4E2D]
    """
    return "".join(
        SPECIAL.get(letter, letter if letter.isascii() else f"[U+{ord(letter):04X}]")
        for letter in text
    )


def _lines(policy: Policy) -> Iterator[str]:
    away = unreached(policy)
    plan = layout(policy, folded=folds(policy, away))
    boxes = {box.node: box for box in plan.boxes}
    for line in about(policy):
        yield f"% {line.encode('unicode_escape').decode('ascii')}".rstrip()
    yield PREAMBLE
    for box in plan.boxes:
        if box.parent is not None:
            yield from _edge(policy, plan, boxes[box.parent], box)
    for box in plan.boxes:
        yield from _box(box, "unreached" if box.node in away else box.kind)
    yield r"\end{tikzpicture}"
    yield r"\end{document}"


def _edge(policy: Policy, plan: Layout, parent: NodeBox, child: NodeBox) -> Iterator[str]:
    start, first, second, end = map(_point, edge_points(plan, parent, child))
    place, align = answer_place(plan, parent, child)
    anchor = "west" if align == "start" else "east"
    yield rf"\draw[edge] {start} .. controls {first} and {second} .. {end};"
    yield rf"\node[answer, anchor={anchor}] at {_point(place)} {{{answer(policy, child)}}};"


def _box(box: NodeBox, style: str) -> Iterator[str]:
    corner, opposite = (box.x, box.y), (box.x + box.width, box.y + box.height)
    yield rf"\draw[{style}] {_point(corner)} rectangle {_point(opposite)};"
    lines = [latex_text(line).replace(INDENT, r"\quad ") for line in box.lines]
    place, options = box.centre, "align=center"
    if box.kind == "split":
        lines[0] = rf"\textbf{{{lines[0]}}}"
    else:
        place, options = (box.x + PADDING, place[1]), "align=left, anchor=west"
    text = r" \\ ".join(lines)
    yield rf"\node[{options}, inner sep=0] at {_point(place)} {{{text}}};"
    x, y, width = box.tag
    yield rf"\node[{style}, tag] at {_point((x + width / 2, y + TAG / 2))} {{{box.node}}};"


def _point(point: tuple[float, float]) -> str:
    return f"({point[0]:.2f}, {point[1]:.2f})"
