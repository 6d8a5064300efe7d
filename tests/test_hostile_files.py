"""Whatever is in a file, it is read or refused: soon, in little room, and with few words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from icct.baselines import read_actor
from icct.cli.main import main
from icct.policy.file import read_policy
from icct.verify import read_properties
from tests.test_files import refused

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")


def check(count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile_files", str(count)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(found["outcomes"].values()) == count
    assert sum(n for kind, n in found["outcomes"].items() if "refused" in kind) > count / 2
    assert found["slowest"][0] < 2
    assert found["memory_mb"] < 500
    assert found["longest"] < 2500


@needs_proc
def test_600_hostile_files() -> None:
    check(600)


@needs_proc
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_12000_hostile_files() -> None:
    check(12_000)


@pytest.mark.parametrize("read", [read_policy, read_properties, read_actor])
def test_what_is_no_file_is_not_waited_for(read, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    os.mkfifo(tmp_path / "pipe")
    assert "this is a pipe" in refused(lambda: read(tmp_path / "pipe"))
    assert "this is a device" in refused(lambda: read("/dev/zero"))
    assert "Is a directory" in refused(lambda: read(tmp_path))


def test_the_command_line_prints_no_escapes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.toml"
    path.write_text('["\\u001b[2J"]\nproperty = "acceleration <= 1"\nwhy = "w"\n')
    assert main(["verify", "zoo:ring-cruiser", "--properties", str(path)]) == 2
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert r"\x1b[2J" in printed.err
