"""What the page on verification shows is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest

from icct.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "verification.md").read_text()
BLOCKS = re.findall(r"```\n\$ (.*?)```", PAGE, flags=re.S)
QUICK = [text for text in BLOCKS if not re.search("--evaluate|--episodes|mine.json", text)]


def test_there_is_something_to_test() -> None:
    assert len(BLOCKS) == 6
    assert len(QUICK) == 3


@pytest.mark.parametrize("block", QUICK)
def test_shown_output_is_real(
    block: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command, _, output = block.partition("\n")
    words = [
        word.replace("short.json", str(tmp_path / "short.json")) for word in shlex.split(command)
    ]
    monkeypatch.chdir(ROOT)
    refuted = any(line.startswith("refuted") for line in output.splitlines())
    assert main(words[1:]) == refuted
    assert capsys.readouterr().out == output
