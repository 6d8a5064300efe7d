"""The page on environments of one's own: every command and the code run, with smaller budgets."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from icct import read_policy
from icct.cli.main import main
from icct.envs import find_task
from icct.learn import make_config, train
from icct.policy import Split
from icct.verify import Property, Proved, check

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "your-environment.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.S)
COMMANDS = [
    line for kind, text in BLOCKS if kind == "" for line in text.splitlines() if "pip" not in line
]
CARD = ROOT / "examples" / "car-following.toml"
SMALLER = (
    (r"--steps \d+", "--steps 700 --learning-starts 500 --batch-size 32 --evaluate-every 350"),
    (
        r"--minutes 6",
        "--steps 700 --learning-starts 500 --batch-size 32 --evaluate-every 350 --rounds 1 "
        "--round-episodes 2 --polish-episodes 200 --validation-episodes 2 --fresh-episodes 2",
    ),
    (r"--minutes 2", "--evaluations 150 --validation-episodes 10 --report-episodes 5"),
    (r"--episodes \d+", "--episodes 2"),
    (r"--dagger \d+", "--dagger 1 --episodes 2"),
)
# An answer that depends on how well a short training went: refuted, not improved, remarks.
UNSURE = ("verify", "polish", "audit")


def smaller(command: str) -> str:
    for pattern, words in SMALLER:
        command = re.sub(pattern, words, command)
    return command


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_of_the_page(place: Path) -> None:
    assert len(COMMANDS) == 17
    for command in COMMANDS:
        words = shlex.split(smaller(command), comments=True)
        if words[0] == "gcc":
            assert subprocess.run(words, check=False).returncode == 0
            continue
        allowed = (0, 1, 3) if words[1] in UNSURE else (0,)
        assert main(words[1:]) in allowed, command
    limits = Property("when gap <= 5 and speed >= leader_speed + 5 then -3 <= acceleration <= 3")
    assert isinstance(check(read_policy("short.json"), limits), Proved)
    assert (place / "car.html").stat().st_size > 10_000
    task = find_task("car.toml")
    assert [feature.name for feature in task.features] == ["gap", "leader_speed", "speed"]
    assert task.environment == f"{(ROOT / 'examples' / 'car_following.py')}:CarFollowing"


def test_the_code_of_the_page(place: Path) -> None:
    (code,) = [text for kind, text in BLOCKS if kind == "python"]
    smallest = (
        "steps=700, learning_starts=500, batch_size=32, rounds=0, polish_episodes=0, "
        "round_episodes=2, validation_episodes=2, fresh_episodes=2"
    )
    short = code.replace("minutes=6.0", smallest).replace("workers=2", "workers=1")
    assert smallest in short
    assert "workers=1" in short
    (place / "script.py").write_text(short.replace("episodes=20", "episodes=2"))
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "on car-following: 2 episodes" in done.stdout
    assert read_policy("car-in-python.json").provenance.task == "car-following"


def test_features_in_metres_get_thresholds_where_they_were_observed(place: Path) -> None:
    """A gap of 0 to 200 m: unscaled, splits start around 0 m and most leaves are dead."""
    config = make_config(CARD.as_posix(), "icct-2-feature", steps=500, learning_starts=500)
    policy = train(config, place / "run", workers=1).policy(kind="final")
    splits = [node for node in policy.nodes if isinstance(node, Split)]
    assert len(splits) == 7
    for split in splits:
        low, high = ((1, 200), (0, 30), (0, 30))[split.feature]
        assert low < split.threshold < high


def test_a_run_of_code_goes_on_where_the_code_is_named(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make_config(CARD.as_posix(), "icct-static", steps=300, learning_starts=200)
    train(config, place / "run", workers=1)
    resumed = ["train", "--resume", "run"]
    assert main(resumed) == 2
    assert "cannot have code run by itself" in capsys.readouterr().err
    assert main([resumed[0], str(CARD), *resumed[1:]]) == 0
    assert "is finished" in capsys.readouterr().err
    assert main(["train", "Pendulum-v1", *resumed[1:]]) == 2
    fast = ["--option", "top_speed=20.0"]
    assert main([resumed[0], str(CARD), *fast, *resumed[1:]]) == 2
    record = ["bench", "record", "run", "--episodes", "1", "--workers", "1"]
    assert main(record) == 2
    assert main([*record, "--task", str(CARD)]) == 0
    assert (place / "results" / "car-following.icct-static.generic.seed-0.json").exists()
    assert main(["bench", "report", "-o", "page.md"]) == 0
    assert "## car-following" in (place / "results-by-task.md").read_text()
