"""What was found out about a policy → HTML: episodes, measures, properties, training.

Everything that comes from files goes through `escape`.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from icct.policy import Policy
from icct.policy.caption import pretty
from icct.policy.text import limit_text, number
from icct.view.charts import curve, histogram
from icct.view.curve import Curve

if TYPE_CHECKING:
    from icct.evaluate import Evaluation
    from icct.verify import Answer, Measures


def evaluation_html(evaluation: "Evaluation | None") -> str:
    """Return the returns of the episodes, with a histogram."""
    if evaluation is None:
        return '<p class="quiet">Not evaluated. icct report --task TASK runs episodes.</p>'
    text = evaluation.as_text().partition("\n  leaf use")[0]  # the rules show the use of leaves
    figure = histogram(evaluation.returns, "return of an episode")
    return (
        f"<pre>{escape(text)}</pre><figure>{figure}<figcaption>Returns of "
        f"{len(evaluation.episodes)} episodes; the line is the mean.</figcaption></figure>"
    )


def measures_html(policy: Policy, measures: "Measures") -> str:
    """Return ranges, slopes and jumps, which hold for all observations inside the bounds."""
    units = {action.name: action.unit for action in policy.actions}
    ranges = table(
        ("action", "smallest", "largest"),
        (
            (name, _physical(low, units[name]), _physical(high, units[name]))
            for name, (low, high) in measures.ranges.items()
        ),
    )
    leaves = table(
        ("leaf", "action", "smallest", "largest", "slope at most (raw)", "saturated"),
        (
            (
                str(leaf.leaf),
                leaf.action,
                _physical(leaf.low, units[leaf.action]),
                _physical(leaf.high, units[leaf.action]),
                number(leaf.lipschitz),
                leaf.saturation,
            )
            for leaf in measures.leaves
        ),
    )
    jumps = table(
        ("split", "action", "rises by at most", "falls by at most"),
        (
            (
                str(jump.split),
                jump.action,
                _physical(jump.rise, units[jump.action]),
                _physical(jump.fall, units[jump.action]),
            )
            for jump in measures.jumps
        ),
    )
    dead = ", ".join(map(str, measures.dead))
    sentence = f"No observation reaches leaf {dead}." if dead else "Every leaf can be reached."
    return (
        '<p class="quiet">For all observations inside the declared bounds.</p>'
        f"{ranges}<p>{sentence}</p><details open><summary>Leaf by leaf</summary>{leaves}</details>"
        f"<details><summary>Jumps at the splits</summary>{jumps}</details>"
    )


def _physical(value: float, unit: str) -> str:
    return pretty(limit_text(value, unit))


def properties_html(answers: "Sequence[Answer]") -> str:
    """Return every property with its answer: a proof's margin, or a counterexample."""
    if not answers:
        return '<p class="quiet">None were asked for. icct report --properties FILE takes some.</p>'
    rows = []
    for answer in answers:
        _, *detail = answer.as_text().splitlines()  # the first line repeats the question
        rows.append(
            f'<tr><td><span class="answer-word {answer.word}">{answer.word}</span></td>'
            f"<td><b>{escape(answer.property.name)}</b> <code>{escape(answer.property.text)}</code>"
            f"<br>{escape(answer.property.why)}"
            f'<br><span class="quiet">{"<br>".join(escape(line.strip()) for line in detail)}</span>'
            "</td></tr>"
        )
    heads = "<tr><th>answer</th><th>property</th></tr>"
    return f'<table class="stacked">{heads}{"".join(rows)}</table>'


def curves_html(curves: Sequence[Curve]) -> str:
    """Return the training curves."""
    if not curves:
        return '<p class="quiet">Training curves are shown for a policy in its run folder.</p>'
    return "".join(
        f"<figure>{curve(line.steps, line.values, line.name)}"
        f"<figcaption>{escape(line.name[0].upper() + line.name[1:])}</figcaption></figure>"
        for line in curves
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of plain text."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
