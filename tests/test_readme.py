"""The README's commands and code run, with smaller budgets, and what it shows is real.

`python tests/test_readme.py` puts the output that it shows right.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from icct.cli.main import VERBS, main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.S)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
SHOWN = "$ icct show"  # a block that begins so has a command and what it prints
LINES = [
    line
    for kind, text in BLOCKS
    if kind == "" and not text.startswith((SHOWN, "observation"))
    for line in text.replace("\\\n", " ").splitlines()
]
COMMANDS = [line for line in LINES if line.startswith("icct ")]

TRAINING = {"steps": 150, "learning-starts": 100, "batch-size": 16, "critic-hidden": 8,
            "buffer-size": 300, "evaluate-every": 100, "evaluate-episodes": 1}  # fmt: skip
SHORT = " ".join(f"--{name} {value}" for name, value in TRAINING.items()) + " --device cpu"
STAGES = {"rounds": 0, "round-episodes": 1, "polish-episodes": 0, "validation-episodes": 2,
          "fresh-episodes": 2, "workers": 1}  # fmt: skip
RECIPE = " ".join(f"--{name} {value}" for name, value in STAGES.items())
# The first pattern that a command matches says what is put in place of a large budget, or added.
SMALLER = (
    (r"train --resume", r"\g<0>"),
    (r"--minutes 20|train inverted-pendulum|--minutes 6", rf"\g<0> {SHORT} {RECIPE}"),
    (
        r"--minutes 2 ",
        "--evaluations 100 --validation-episodes 10 --report-episodes 2 --workers 1 ",
    ),
    (r"--dagger 5", "--dagger 1 --episodes 1 --validation-episodes 1 --workers 1"),
    (r"--steps 20000", "--steps 150 --episodes 1 --config short.toml --device cpu"),
    (r"--episodes (20|5)", "--episodes 2"),
)


def smaller(command: str) -> str:
    """Return a command of the README that takes a moment."""
    for pattern, words in SMALLER:
        if re.search(pattern, command):
            return re.sub(pattern, words, command, count=1)
    return command


def run(line: str) -> None:
    """Run a command; its comment says where the answer is no."""
    command, _, comment = line.partition("#")
    # A search that plays 100 episodes may find nothing better, which is an answer too.
    expected = (0, 1) if " polish " in command else (1,) if "exit 1" in comment else (0,)
    assert main(shlex.split(smaller(command))[1:]) in expected, line


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with what the commands assume: the examples, and here a few options."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    options = {name.replace("-", "_"): value for name, value in TRAINING.items()}
    options["critic_hidden"] = [8]  # type: ignore[assignment]
    text = "\n".join(f"{name} = {value}" for name, value in options.items() if name != "steps")
    (tmp_path / "short.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def never_ends(line: str) -> bool:
    return line.startswith("icct view")


def test_there_is_something_to_test() -> None:
    assert len(PYTHON) == 2
    assert len(COMMANDS) == 28
    verbs = {line.split()[1] for line in COMMANDS}
    assert verbs <= VERBS.keys()
    elsewhere = {"bench", "robot", "completion", "extend", "tune"}  # they are told of
    assert VERBS.keys() - verbs == elsewhere
    for line in LINES:  # what takes long says so; an installation is as long as the network is slow
        quick = line.startswith(("icct ", "pip install ")) and smaller(line) == line
        small = re.search(r"--episodes \d|--resume", line)
        assert quick or small or re.search(r"\d+ minutes|half a minute", line), line


@pytest.mark.timeout(600)  # half a minute on two quiet cores
def test_commands_in_order(place: Path) -> None:
    for line in COMMANDS:
        if not never_ends(line):
            run(line)
    assert len(list(place.glob("runs/*/policies/seed-0*.json"))) >= 3


@pytest.mark.parametrize("code", PYTHON)
def test_python(code: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    budget = (
        "steps=150, learning_starts=100, batch_size=16, rounds=0, round_episodes=1, "
        "validation_episodes=2, fresh_episodes=2, polish_episodes=0"
    )
    exec(
        compile(code.replace("minutes=5.0", budget), "README.md", "exec"), {"__name__": "__main__"}
    )
    if "evaluate" in code:
        assert "on inverted-pendulum: 20 episodes" in capsys.readouterr().out


def test_shown_output_is_real(capsys: pytest.CaptureFixture[str]) -> None:
    shown = next(text for kind, text in BLOCKS if text.startswith(SHOWN))
    command, _, output = shown.partition("\n")
    assert main(shlex.split(command)[2:]) == 0
    assert capsys.readouterr().out == output


if __name__ == "__main__":  # put what the README shows right
    shown = next(text for _, text in BLOCKS if text.startswith(SHOWN))
    command = shown.partition("\n")[0]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main(shlex.split(command)[2:])
    (ROOT / "README.md").write_text(README.replace(shown, f"{command}\n{printed.getvalue()}"))
