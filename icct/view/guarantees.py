"""Guarantees of a plant under the policy → HTML: each answer, and the tube where one was proved."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icct.guarantee import Answer

Drawn = tuple["Answer", bytes | None]  # with the tube as a PNG


def guarantees_html(answers: Sequence[Drawn]) -> str:
    """Return every question about a plant with its answer, and what the proofs are about."""
    parts = []
    for answer, picture in answers:
        headline, *lines = answer.as_text().splitlines()
        parts.append(
            f'<p><span class="answer-word {answer.word}">{answer.word}</span> '
            f"<code>{escape(headline.removeprefix(answer.word).strip())}</code>"
            f'<br><span class="quiet">{"<br>".join(escape(line.strip()) for line in lines)}</span>'
            f"</p>{_figure(picture)}"
        )
    plant = answers[0][0].plant
    left_out = "; ".join(plant.leaves_out)
    return (
        f"{''.join(parts)}<p>Of the plant {escape(plant.name)}: {escape(plant.summary)} "
        f"Its model is from: {escape(plant.source)} It leaves out: {escape(left_out)}.</p>"
    )


def _figure(picture: bytes | None) -> str:
    if picture is None:
        return ""
    data = b64encode(picture).decode("ascii")
    return (
        f'<figure><img alt="The tube" style="max-width:100%" src="data:image/png;base64,{data}">'
        "<figcaption>Every trajectory stays inside the boxes, which have the colour of the leaf "
        "that acts; thin lines are some trajectories, hatched is what may not happen."
        "</figcaption></figure>"
    )
