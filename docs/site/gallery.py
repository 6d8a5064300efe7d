"""The gallery: `icct report` and `icct draw` of every policy of the zoo, made while the site is.

The page docs/gallery.md has a line `<!-- gallery -->`, which becomes the list.
"""

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from icct.cli.main import main
from icct.zoo import PREFIX, zoo_names, zoo_policy

MARK = "<!-- gallery -->"
PLACE = "gallery"
_MADE = tempfile.TemporaryDirectory()


def on_files(files: Files, config: Any) -> Files:
    """Add the report and the picture of every policy to the site."""
    for name in zoo_names():
        for verb, suffix in (("report", "html"), ("draw", "svg")):
            made = Path(_MADE.name) / f"{file_name(name)}.{suffix}"
            if not made.exists():
                _make(verb, name, made)
            files.append(File.generated(config, f"{PLACE}/{made.name}", abs_src_path=str(made)))
    return files


def _make(verb: str, name: str, file: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):  # it prints the name of the file
        status = main([verb, PREFIX + name, "-o", str(file)])
    if status:
        raise SystemExit(f"icct {verb} {PREFIX}{name} failed")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the list in its place."""
    if page.file.src_uri != "gallery.md":
        return markdown
    assert MARK in markdown
    return markdown.replace(MARK, "\n\n".join(map(entry, zoo_names())))


def entry(name: str) -> str:
    """Return a policy of the zoo as a few lines of Markdown."""
    policy, file = zoo_policy(name), f"{PLACE}/{file_name(name)}"
    sizes = f"{len(policy.leaves)} leaves, {policy.parameter_count} parameters"
    return (
        f"## {PREFIX}{name}\n\n{policy.provenance.task}; {sizes}. "
        f"**[Open its interactive report]({file}.html)**, or `icct show {PREFIX}{name}`.\n\n"
        f"[![The tree of {name}]({file}.svg){{ loading=lazy }}]({file}.html)"
    )


def file_name(name: str) -> str:
    """Return a policy's name as that of a file."""
    return name.replace("/", "-")
