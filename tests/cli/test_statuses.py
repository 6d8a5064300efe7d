"""What an exit status means, and that no file of a user's ends in a surprise."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from icct.cli import show
from icct.cli.main import main

BARE = """
import sys
for name in ("gymnasium", "torch", "cma", "sklearn", "safetensors", "rich", "mujoco", "libsumo"):
    sys.modules[name] = None  # as if it were not installed
from icct.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "words",
    [
        "polish zoo:pole-balancer --task inverted-pendulum --minutes 1 -o x.json",
        "train inverted-pendulum --out run",
        "evaluate zoo:pole-balancer --task inverted-pendulum",
        "evaluate zoo:pole-balancer --task inverted-pendulum --workers 2 --episodes 2",
        "distill zoo:pole-balancer --task inverted-pendulum --leaves 2 -o x.json",
        "adapt zoo:pole-balancer --task inverted-pendulum -o x.json",
        "audit zoo:pole-balancer --task inverted-pendulum",
        "bench record run",
        "view zoo:pole-balancer --no-browser",
        "record zoo:pole-balancer -o x.html",
    ],
)
def test_without_extras_a_verb_says_what_to_install(words: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BARE, *words.split()],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert 'pip install "icct[' in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    assert not list(tmp_path.iterdir())


def test_the_unexpected_has_a_status_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(options: object) -> int:
        raise ZeroDivisionError("a defect\x1b[2J")

    monkeypatch.setattr(show, "run", fail)
    assert main(["show", "zoo:ring-cruiser"]) == 70
    said = capsys.readouterr().err
    assert said.startswith("icct show: this should not happen (ZeroDivisionError: a defect\\x1b")
    assert "Please report it" in said
    assert said.count("\n") == 1
    assert main(["show", "zoo:ring-cruiser", "--traceback"]) == 70
    assert "in fail" in capsys.readouterr().err


def test_what_the_system_refuses_is_no_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(options: object) -> int:
        raise OSError(28, "No space left on device", "/somewhere/file")

    monkeypatch.setattr(show, "run", fail)
    assert main(["show", "zoo:ring-cruiser"]) == 2
    assert capsys.readouterr().err == "icct show: /somewhere/file: No space left on device.\n"


def test_sigterm_does_what_control_c_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(show, "run", lambda options: signal.raise_signal(signal.SIGTERM))
    assert main(["show", "zoo:ring-cruiser"]) == 130
    assert capsys.readouterr().err == "icct show: stopped.\n"
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("steps = " + "9" * 5000, "thousands of digits"),
        ("steps = 0x" + "f" * 5000, "64 bits"),
        ("steps = ", "not valid TOML"),
        ("leaves = 4.0", "leaves is 4.0, expected a whole number"),
        ("leaves = 3\nrecipe = 'paper'", "power of two"),
        ("leaves = 3\nbalanced = true", "power of two"),
        ("polish_episodes = 'all'", "polish_episodes is 'all', expected a whole number"),
        ("rounds = 2\nrecipe = 'paper'", "there is no option 'rounds'"),
        ("leaves = 1048576", "leaves is 1048576"),
        ("a" * 300_000, "this is not a file of training options"),
        ("stps = 3", "Did you mean 'steps'?"),
        ("[steps]\nx = 1", "steps is {'x': 1}"),
        ("init = 3", "init is 3"),
        ("init = [3]", "init is [3]"),
        ("options = ['nope=1']", "has no option 'nope'"),
        ("seeds = [-1]", "seeds is (-1,), expected one or more, of 0 to"),
        ("seeds = []", "expected one or more"),
        ("gamma = 1e400", "gamma is inf"),
        ("hidden = []", "hidden is empty"),
        ("recipe = 'icc'", "There is no recipe 'icc'; known are paper, generic, icct."),
    ],
)
def test_a_wrong_file_of_options_is_refused(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "options.toml").write_text(text)
    words = ["train", "inverted-pendulum", "--config", str(tmp_path / "options.toml")]
    assert main([*words, "--out", str(tmp_path / "run")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["train", "inverted-pendulum", "--option", "nope=1"], "has no option 'nope'"),
        (["train", "inverted-pendulum", "--seeds=-1,"], "seeds is (-1,)"),
        (["train", "inverted-pendulum", "--seeds", "0"], "expected 1 to 10,000"),
        (["train", "inverted-pendulum", "--seeds", "9" * 5000], "expected a number"),
        (["train", "inverted-pendulum", "--recipe", "icc"], "There is no recipe 'icc'"),
        (["train", "inverted-pendulum", "--method", "mlp-max", "--rounds", "3"], "plain training"),
        (["train", "inverted-pendulum", "--teacher", "no.json"], "no.json: cannot be read"),
        (["train", "inverted-pendulum", "--method", "cddt", "icct-static"], "share a recipe"),
        (
            ["adapt", "zoo:pole-balancer", "--task", "inverted-pendulum", "-o", "x.json",
             "--option", "pole_length=0.9"],
            "pole_length is '0.9', expected one of",
        ),
    ],
)  # fmt: skip
def test_wrong_options_leave_no_run_behind(
    words: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--out", "run"]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())
