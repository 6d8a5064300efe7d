"""The walks in docs/how-training-works.md name the right lines, and imports go one way.

`python tests/test_walks.py` puts the lines of the document right.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "how-training-works.md"
ROW = re.compile(r"^\| `(?P<file>[\w/]+\.py):(?P<line>\d+)` `(?P<name>[\w.]+)` \|", re.MULTILINE)
WALK = re.compile(
    r"<!-- walk: (?P<name>\w+), at most (?P<lines>\d+) lines over (?P<files>\d+) files -->\n"
    r"(?P<rows>(?:\|.*\n)+)\n(?P<sum>That is .*\.)\n"
)


@cache
def functions(file: str) -> dict[str, tuple[int, int]]:
    """Return the first and last line of every function of a file, by its qualified name."""
    found = {}
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else []
        owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for one in inside or [node]:
            if isinstance(one, ast.FunctionDef):
                found[owner + one.name] = one.lineno, one.end_lineno or one.lineno
    return found


def walked(rows: str) -> tuple[int, int]:
    """Return the lines and the files of the functions that some rows name."""
    named = [(row["file"], row["name"]) for row in ROW.finditer(rows)]
    spans = [functions(file)[name] for file, name in named]
    return sum(last - first + 1 for first, last in spans), len({file for file, _ in named})


def corrected(text: str) -> str:
    """Return the document with the lines and sums that are true now."""

    def row(match: re.Match[str]) -> str:
        first = functions(match["file"])[match["name"]][0]
        return f"| `{match['file']}:{first}` `{match['name']}` |"

    def walk(match: re.Match[str]) -> str:
        lines, files = walked(match["rows"])
        return match[0].replace(match["sum"], f"That is {lines} lines over {files} files.")

    return WALK.sub(walk, ROW.sub(row, text))


def test_the_document_names_the_right_lines() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert len(ROW.findall(text)) > 40
    assert text == corrected(text), "put right by: python tests/test_walks.py"


@pytest.mark.parametrize("name", ["training", "evaluate", "verify", "polish"])
def test_a_walk_is_short(name: str) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    (walk,) = [match for match in WALK.finditer(text) if match["name"] == name]
    lines, files = walked(walk["rows"])
    assert lines <= int(walk["lines"])
    assert files <= int(walk["files"])


# -- imports --------------------------------------------------------------------------------------

# A part may import those above it, and parts of its own layer where it is said.
LAYERS = (
    ("commit", "errors"),
    ("files", "lock", "methods", "seeds", "stop"),
    ("options", "policy"),
    ("remake", "work"),
    ("zoo",),
    ("__init__",),  # the public names, and the version
    ("verify",),
    ("plant",),
    ("envs", "baselines", "export", "draw", "video"),
    ("evaluate", "scoring", "cluster"),
    ("audit", "distill", "guarantee", "polish"),
    ("view",),
    ("robot",),
    ("learn",),
    ("sb3", "recipe"),
    ("bench", "tune"),
    ("cli",),
    ("__main__",),
)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports, those for type checkers left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for guard in [node for node in ast.walk(tree) if isinstance(node, ast.If)]:
        if ast.unparse(guard.test) == "TYPE_CHECKING":
            guard.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("icct"):
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if is_module(name) else node.module for name in whole)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("icct"))


def is_module(name: str) -> bool:
    place = ROOT / name.replace(".", "/")
    return place.is_dir() or place.with_suffix(".py").exists()


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_imports_go_one_way() -> None:
    rank = {part: number for number, layer in enumerate(LAYERS) for part in layer}
    wrong = []
    for path in sorted((ROOT / "icct").rglob("*.py")):
        here = part_of(module_of(path))
        for there in map(part_of, imports_of(path)):
            if here != there and rank[there] >= rank[here]:
                wrong.append(f"{module_of(path)} imports {there}")
    assert wrong == []


@pytest.mark.parametrize("part", ["learn", "polish", "recipe", "policy", "verify", "plant", "cli"])
def test_no_two_files_import_each_other(part: str) -> None:
    files = {module_of(path): path for path in (ROOT / "icct" / part).glob("*.py")}
    files = {name: path for name, path in files.items() if not name.endswith("__init__")}
    graph = {name: {n for n in imports_of(path) if n in files} for name, path in files.items()}
    while graph:
        free = {name for name, needed in graph.items() if not needed & graph.keys()}
        assert free, f"a circle among {sorted(graph)}"
        graph = {name: needed for name, needed in graph.items() if name not in free}


def test_a_verb_imports_no_verb() -> None:
    from icct.cli.main import VERBS

    verbs = {f"icct.cli.{verb}" for verb in VERBS}
    for path in sorted((ROOT / "icct" / "cli").glob("*.py")):
        assert verbs.isdisjoint(imports_of(path)), path.name


if __name__ == "__main__":
    DOCUMENT.write_text(corrected(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
