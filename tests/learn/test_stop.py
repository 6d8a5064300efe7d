"""Stopped runs: whatever the moment and the signal, a resumed run is the run never stopped."""

import runpy
import signal
from pathlib import Path

import pytest
from safetensors import safe_open

from icct.errors import ConfigError
from icct.learn.checkpoint import FILE
from icct.learn.config import TrainConfig, make_config
from icct.learn.group import Group
from icct.learn.run import Run
from icct.learn.train import Status, resume, train
from icct.scoring import ScoringPool

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "stop_and_resume.py"


def small(**changes: object) -> TrainConfig:
    values = {"batch_size": 32, "critic_hidden": (16, 16), "learning_starts": 50, "steps": 200}
    values |= {"buffer_size": 1000, "evaluate_every": 100, "evaluate_episodes": 2, **changes}
    return make_config("inverted-pendulum", **values)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(small(), tmp_path_factory.mktemp("straight") / "run")


def same(one: Run, other: Run) -> bool:
    kinds = ("best", "final")
    return all(one.policy(kind=kind) == other.policy(kind=kind) for kind in kinds)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_of_a_step_stops_after_it(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, straight: Run
) -> None:
    learn = Group.learn

    def learn_and_hear(group: Group, step: int) -> None:
        learn(group, step)
        if step == 120:
            signal.raise_signal(number)  # the actor has learned, the step is not counted yet

    monkeypatch.setattr(Group, "learn", learn_and_hear)
    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    run = train(small(), tmp_path / "run")
    assert not run.finished
    assert "stopped at 120" in (run.folder / "log.txt").read_text()
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == handlers
    monkeypatch.undo()
    assert same(resume(run.folder), straight)


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    def twice(status: Status) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        train(small(), tmp_path / "run", report=twice)
    assert not (tmp_path / "run" / FILE).exists()  # nothing half-done was saved


def test_pending_evaluations_are_found_where_the_folder_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, straight: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    # A pool that hands nothing back until the run is stopped: all evaluations stay pending.
    monkeypatch.setattr(ScoringPool, "collect", lambda pool, timeout_s=0.0: [])

    def stop_at_the_end(status: Status) -> None:
        if status.doing != "training":
            signal.raise_signal(signal.SIGTERM)

    run = train(small(), "run", report=stop_at_the_end)
    assert not run.finished
    assert len(list(Path("run/policies").glob("*.pending-*"))) == 2
    with safe_open(Path("run", FILE), framework="pt") as checkpoint:
        assert not list(checkpoint.keys())  # nothing more is learned
    monkeypatch.undo()
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    (tmp_path / "run").rename(moved)
    again = resume(moved)
    assert again.finished
    assert same(again, straight)
    assert not list(moved.glob("policies/*.pending-*"))


def test_an_error_saves_no_half_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(group: Group, step: int) -> None:
        raise ConfigError("as if a simulator had failed")

    monkeypatch.setattr(Group, "learn", fail)
    with pytest.raises(ConfigError, match="as if a simulator"):
        train(small(), tmp_path / "run")
    assert not (tmp_path / "run" / FILE).exists()


def test_a_run_killed_before_its_first_checkpoint_measures_nothing_twice(
    tmp_path: Path, straight: Run
) -> None:
    def twice(status: Status) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(small(), tmp_path / "run", report=twice)
    run = resume(tmp_path / "run")
    lines = [sorted((r.folder / "metrics.csv").read_text().split("\n")) for r in (run, straight)]
    assert lines[0] == lines[1]


def stops(place: Path, *numbers: int) -> None:
    found = runpy.run_path(str(SCRIPT))["stop_and_resume"](place, numbers)
    assert {stop.number: stop.wrong for stop in found} == dict.fromkeys(numbers, ())


def test_a_process_stopped_and_resumed_elsewhere_ends_the_same(tmp_path: Path) -> None:
    stops(tmp_path, 17)  # SIGINT while it learns; then the folder is moved


@pytest.mark.slow
def test_stops_by_every_signal_in_every_phase(tmp_path: Path) -> None:
    stops(tmp_path, *range(15))
