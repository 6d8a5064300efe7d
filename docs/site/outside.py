"""What lies outside docs/: pages that are files of the repository, and links to its source.

A page that is the line `<!-- file: NAME -->` is that file. Links to source files lead to the
hosting site where mkdocs.yml names one (`repo_url`), and else are plain text, since the name of the
file is what the reader needs. A file that is not there fails the build.
"""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"<!-- file: (\S+) -->\s*\Z")
LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)*(?:[\w.-]+/)*[\w.-]+\.(?:py|toml|json|c))\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Return a page whose links to source files lead somewhere, or are text."""
    folder = (ROOT / "docs" / page.file.src_uri).parent
    if match := FILE.match(markdown):
        folder = ROOT
        markdown = (ROOT / match[1]).read_text().replace("](docs/", "](")

    def replaced(match: re.Match[str]) -> str:
        path = folder / match[2]
        if not path.exists():
            raise FileNotFoundError(f"{page.file.src_uri}: {match[2]} does not exist")
        if not config.repo_url:
            return match[1]
        return f"[{match[1]}]({config.repo_url}/blob/main/{path.resolve().relative_to(ROOT)})"

    return LINK.sub(replaced, markdown)
