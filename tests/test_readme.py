"""The README's commands and code run, and its links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from icct.cli.main import VERBS, main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.S)
PYTHON = [text for kind, text in BLOCKS if kind == "python" and "__main__" not in text]
# They train, need what was trained or another simulator, or serve until Ctrl-C.
LONG = {"train", "distill", "adapt", "polish", "prune", "robot", "view"}
COMMANDS = [
    (line.split("#")[0].strip(), 1 if "exit 1" in line else 0)
    for kind, text in BLOCKS
    if kind == ""
    for line in text.splitlines()
    if re.match(rf"icct ({'|'.join(VERBS.keys() - LONG)}) ", line + " ")
]


def test_there_is_something_to_test() -> None:
    assert len(PYTHON) == 2
    assert len(COMMANDS) == 19


@pytest.mark.parametrize("code", PYTHON)
def test_python(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.sumo
def test_commands_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for command, status in COMMANDS:
        assert main(shlex.split(command)[1:]) == status, command


def test_shown_output_is_real(capsys: pytest.CaptureFixture[str]) -> None:
    shown = next(text for kind, text in BLOCKS if text.startswith("$ icct show"))
    command, _, output = shown.partition("\n")
    assert main(shlex.split(command)[2:]) == 0
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(p.name for p in (ROOT / "docs").glob("*.md"))]
)
def test_links(page: str) -> None:
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        if "://" not in link:
            assert (path.parent / link).exists(), link
