"""Policy → Graphviz DOT: the tree as a figure that Graphviz lays out itself."""

from collections.abc import Iterator

from icct.policy import Policy, Split
from icct.policy.caption import node_lines

CHARACTERS = 44  # of an equation's line
SPLIT_STYLE = 'fillcolor="#dbe8f7", color="#2f6db3"'
LEAF_STYLE = 'fillcolor="#fbdedb", color="#c23b33"'


def export_dot(policy: Policy) -> str:
    r"""Return the tree in the DOT language; `dot -Tpdf` draws it.

    >>> from icct.zoo import zoo_policy
    >>> print(export_dot(zoo_policy("lane-weaver")).splitlines()[4])
      n0 [label="[0] lane_ego\n≤ 0.25 x lane 2", fillcolor="#dbe8f7", color="#2f6db3"];
    """
    return "\n".join(_lines(policy)) + "\n"


def _lines(policy: Policy) -> Iterator[str]:
    yield "digraph policy {"
    yield "  rankdir=LR;"
    yield '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=10];'
    yield '  edge [fontname="Helvetica", fontsize=8, color="#8a8f98", arrowsize=0.6];'
    for _, index in policy.levels():
        node = policy.nodes[index]
        lines = [dot_text(line) for line in node_lines(policy, node, CHARACTERS)]
        if isinstance(node, Split):
            label = f"[{index}] " + "\\n".join(lines)  # the number that icct edit takes
            yield f'  n{index} [label="{label}", {SPLIT_STYLE}];'
            # The first edge is drawn on top: yes, as in the other figures.
            yield f'  n{index} -> n{node.below} [label="yes"];'
            yield f'  n{index} -> n{node.above} [label="no"];'
        else:
            label = "".join(
                f"{line}\\l" for line in (f"[{index}]", *lines)
            )  # \l ends a line and sets it left
            yield f'  n{index} [label="{label}", {LEAF_STYLE}];'
    yield "}"


def dot_text(text: str) -> str:
    r"""Return text for a quoted label: no quote, backslash or entity of it means anything.

    >>> print(dot_text('a "b" \\n &lt;'))
    a \"b\" \\n &amp;lt;
    """
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
