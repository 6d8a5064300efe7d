"""The verbs export and draw: what they write, and what they refuse."""

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.policy import Policy
from icct.zoo import zoo_policy

POLICY: Policy = zoo_policy("ring-cruiser")
C_HEADERS = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
    stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath
    threads time uchar wchar wctype features
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    return capsys.readouterr().err


def test_c_writes_two_files_or_three(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "zoo:ring-cruiser", "--to", "c", "-o", "ring.c"]) == 0
    assert capsys.readouterr().out.split() == ["ring.h", "ring.c"]
    assert "int ring_act(const double observation[44]" in Path("ring.h").read_text()
    assert main(["export", "zoo:ring-cruiser", "--to", "c", "--main", "-o", "ring.c"]) == 0
    assert Path("ring_main.c").read_text().count("ring_act") == 1


@pytest.mark.parametrize(
    ("target", "start"),
    [
        ("python", b"# -*- coding: utf-8"),
        ("dot", b"digraph"),
        ("latex", b"% ring-cruiser"),
        ("json-schema", b"{"),
        ("onnx", b"\x08"),
    ],
)
def test_other_targets(target: str, start: bytes, folder: Path) -> None:
    assert main(["export", "zoo:ring-cruiser", "--to", target, "-o", "out"]) == 0
    assert (folder / "out").read_bytes().startswith(start)
    assert [path.name for path in folder.iterdir()] == ["out"]


def test_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ring = ["export", "zoo:ring-cruiser", "--to"]
    assert "try my_ring.c" in refused([*ring, "c", "-o", "my-ring.c"], capsys)
    assert "ends in .c" in refused([*ring, "c", "-o", "ring"], capsys)
    assert "--main is for c" in refused([*ring, "dot", "--main", "-o", "x"], capsys)
    assert "--precision is for" in refused(
        [*ring, "dot", "--precision", "float", "-o", "x"], capsys
    )
    assert "cannot be written" in refused([*ring, "dot", "-o", "no/such/folder"], capsys)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("header", C_HEADERS.split())
def test_no_header_of_ours_is_read_in_place_of_one_of_c(
    header: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for stem in (header, header.upper()):
        words = ["export", "zoo:ring-cruiser", "--to", "c", "-o", f"{stem}.c"]
        assert f"try policy_{stem}.c" in refused(words, capsys)
    assert list(folder.iterdir()) == []


def test_a_full_disk_leaves_no_half_of_the_files(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = [os.fsync]

    def nearly_full(handle: int) -> None:
        if not fits:
            raise OSError(errno.ENOSPC, "No space left on device")
        fits.pop()(handle)

    monkeypatch.setattr(os, "fsync", nearly_full)
    words = ["export", "zoo:ring-cruiser", "--to", "c", "-o", "ring.c"]
    assert "No space left on device. Nothing was changed." in refused(words, capsys)
    assert list(folder.iterdir()) == []


def test_draw(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["draw", "zoo:ring-cruiser", "-o"]
    assert main([*words, "a.svg"]) == 0
    assert capsys.readouterr().out == "a.svg\n"
    assert main([*words, "b.svg", "--observation", "speed_ego=0.118"]) == 0
    visits = {str(leaf): 5 for leaf in POLICY.leaves}
    Path("e.json").write_text(json.dumps({"leaf_visits": visits}))
    assert main([*words, "c.svg", "--usage", "e.json"]) == 0
    assert len({Path(f"{name}.svg").read_bytes() for name in "abc"}) == 3
    assert "ends in .svg" in refused([*words, "d.gif"], capsys)
    Path("e.json").write_text(json.dumps({"leaf_visits": {"1": 5}}))
    assert "another policy" in refused([*words, "d.svg", "--usage", "e.json"], capsys)
    assert "leaf_visits" in refused([*words, "d.svg", "--usage", "a.svg"], capsys)
    assert not Path("d.svg").exists()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_files_compile(folder: Path) -> None:
    for name in ("weaver", "policy_float", "policy_stdio"):
        words = ["export", "zoo:lane-weaver", "--to", "c", "--main", "-o", f"{name}.c"]
        assert main(words) == 0
        command = ["gcc", "-I.", f"{name}.c", f"{name}_main.c", "-o", name]
        subprocess.run(command, check=True)
