"""Formulas as MathML, made while the site is built: no script, no request to others."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.S)
BLOCK = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.S)


def on_page_content(content: str, **_: Any) -> str:
    """Return a page with its formulas in place of their LaTeX."""
    content = INLINE.sub(lambda found: convert(html.unescape(found[1]).strip()), content)
    return BLOCK.sub(
        lambda found: f"<p>{convert(html.unescape(found[1]).strip(), display='block')}</p>", content
    )
