"""The documentation's commands run or say how long they take, and its links lead somewhere.

A command of a page is run here, in order and in one folder for each page, unless a comment says how
long it takes (`# 20 minutes`); then it only has to be a command line that icct understands.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from icct.cli.main import VERBS, main, parser_of

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NAMES = [str(page.relative_to(ROOT / "docs")) for page in PAGES]
DURATION = re.compile(r"#.*\b(\d+ (s|min|minutes?|h)|an hour|hours|until Ctrl-C)\b")
# Verbs whose commands may go without a duration, and are run then.
QUICK_VERBS = {"show", "verify", "measure", "diff", "edit", "simplify", "export", "draw", "report",
               "tasks", "evaluate", "audit", "record", "robot", "completion",
               "guarantee"}  # fmt: skip
ELSEWHERE = {"your-environment.md"}  # tests/test_your_environment.py runs all of it


def commands(page: Path) -> list[str]:
    """Return the command lines of a page's blocks, with their comments."""
    blocks = re.findall(r"^```(?:bash|console)?\n(.*?)^```", page.read_text(), flags=re.S | re.M)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    plain = [line.removeprefix("$ ") for line in lines]
    found = [line for line in plain if line.startswith(("icct ", "python ", "make "))]
    return [line for line in found if "..." not in line and "[--" not in line]  # not how it is used


def words_of(command: str) -> list[str]:
    """Return the words of a command line after `icct`, without what it redirects."""
    words = shlex.split(command, comments=True)[1:]
    return words[: words.index(">")] if ">" in words else words


def test_there_is_something_to_test() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 80
    assert any(DURATION.search(line) for line in commands(ROOT / "docs/recipe.md"))


@pytest.mark.parametrize("name", NAMES)
def test_commands_are_understood_and_long_ones_say_so(name: str) -> None:
    for line in commands(ROOT / "docs" / name):
        says_how_long = DURATION.search(line) is not None or name in ELSEWHERE
        if not line.startswith("icct "):
            assert says_how_long, line
            continue
        verb, *words = words_of(line)
        assert verb in VERBS, line
        assert says_how_long or verb in QUICK_VERBS, line
        parser_of(verb).parse_args(words)  # exits where a word is wrong


QUICK = {
    name: [line for line in commands(ROOT / "docs" / name) if not DURATION.search(line)]
    for name in NAMES
    if name not in ELSEWHERE
}


@pytest.mark.parametrize("name", [name for name, lines in QUICK.items() if lines])
def test_quick_commands_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for shared in ("examples", "docs", "results", "benchmarks"):
        (tmp_path / shared).symlink_to(ROOT / shared)
    monkeypatch.chdir(tmp_path)
    for line in QUICK[name]:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            assert main(words_of(line)) in (0, 1), line  # 1 is an answer
        if found := re.search(r" > (\S+\.json)", line):
            Path(found[1]).write_text(printed.getvalue())


# -- links ----------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as MkDocs and hosting sites make them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", page.read_text(), flags=re.M):
        text = re.sub(r"[^\w\s-]", "", heading.lower()).strip()
        found |= {re.sub(r"[\s-]+", "-", text), re.sub(r"\s", "-", text)}
    return found


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = [*NAMES, *(f"tutorials/{p.name}" for p in (ROOT / "docs/tutorials").glob("*.ipynb"))]
    assert [page for page in pages if f"- {page}\n" not in navigation] == []
