"""No verb writes over what it reads, by whatever name."""

import os
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.policy.file import write_policy
from icct.zoo import zoo_policy


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("policy.json")
    write_policy(zoo_policy("pole-balancer"), path)
    os.symlink("policy.json", "link.json")
    os.link("policy.json", "hard.json")
    os.mkdir("folder")
    return path


WORDS = {
    "edit": ["--set", "node 0 threshold = 0.5"],
    "simplify": ["--decimals", "1"],
    "polish": ["--task", "inverted-pendulum", "--minutes", "0.01"],
    "adapt": ["--task", "inverted-pendulum", "--steps", "10", "--out", "run"],
    "distill": ["--task", "inverted-pendulum", "--leaves", "2"],
    "draw": [],
    "report": [],
    "export": ["--to", "json-schema"],
}


@pytest.mark.parametrize("verb", WORDS)
@pytest.mark.parametrize("name", ["policy.json", "folder/../policy.json", "link.json", "hard.json"])
def test_the_input_is_kept(
    verb: str, name: str, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = policy.read_bytes()
    assert main([verb, str(policy), *WORDS[verb], "-o", name]) == 2
    assert f"-o {name} would write over policy.json, which is read" in capsys.readouterr().err
    assert policy.read_bytes() == before
    assert not Path("run").exists()


@pytest.mark.parametrize("verb", ["edit", "simplify"])
def test_force_writes_over_the_input(verb: str, policy: Path) -> None:
    before = policy.read_bytes()
    assert main([verb, str(policy), *WORDS[verb], "-o", str(policy), "--force"]) == 0
    assert policy.read_bytes() != before
