"""Doctests in docstrings as blocks of code: Markdown would take their brackets for links."""

from typing import Any

import griffe


class FencedDoctests(griffe.Extension):
    """Put a fence around every paragraph of a docstring that begins with a prompt."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(map(fenced, paragraphs))


def fenced(paragraph: str) -> str:
    """Return a paragraph, in a fence if it is a doctest."""
    is_doctest = paragraph.lstrip().startswith(">>> ")
    return f"```pycon\n{paragraph}\n```" if is_doctest else paragraph
