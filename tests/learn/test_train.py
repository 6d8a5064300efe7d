"""Whole runs, short: what they leave behind, and that they go on where they stopped."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from icct import Policy, read_policy
from icct.baselines import NoisyTreeActor, read_actor
from icct.errors import ConfigError
from icct.learn.checkpoint import FILE, load_checkpoint
from icct.learn.config import TrainConfig, make_config
from icct.learn.device import pays_to_compile
from icct.learn.group import Group
from icct.learn.run import read_configs
from icct.learn.train import Status, resume, train

SMALL = {"batch_size": 32, "critic_hidden": (16, 16), "learning_starts": 50, "buffer_size": 1000}


def small(task: str = "inverted-pendulum", method: str = "icct-2-feature", **changes: object):  # type: ignore[no-untyped-def]
    values = {**SMALL, "steps": 200, "evaluate_every": 100, "evaluate_episodes": 2, **changes}
    return make_config(task, method, **values)


def test_progress_and_columns_of_measurements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("icct.learn.display.LINE_AFTER_S", 0.0)
    run = train(small(steps=100), tmp_path / "run", progress=True)
    assert "of 100 steps" in capsys.readouterr().err
    columns = run.metrics()
    assert tuple(columns) == ("step", "group", "seed", "metric", "value")
    assert len({len(column) for column in columns.values()}) == 1
    rows = zip(columns["metric"], columns["step"], columns["value"], strict=True)
    scores = {step: value for metric, step, value in rows if metric == "score"}
    assert scores[100] == pytest.approx(run.members[0].last_score, rel=1e-5)


def test_evaluations_that_fall_behind_are_told_with_the_time_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("icct.learn.display.LINE_AFTER_S", 0.0)
    monkeypatch.setattr("icct.learn.display.LINE_EVERY_S", 0.0)
    config = small(steps=100, evaluate_every=1, evaluate_episodes=20)  # much to evaluate
    train(config, tmp_path / "run", progress=True, scoring_workers=1)
    lines = capsys.readouterr().err.splitlines()
    told = [line for line in lines if "evaluations wait (--scoring-workers" in line]
    assert any(" left" in line for line in told if line.startswith("waiting"))


def test_a_run_leaves_readable_policies_and_measurements(tmp_path: Path) -> None:
    seen: list[Status] = []
    configs = [small(seeds=(0, 1)), small(method="mlp-lower", seeds=(0,))]
    run = train(configs, tmp_path / "run", report=seen.append)
    assert run.finished
    assert seen[-1].doing == "done" or seen[-1].step == 200
    for member in (0, 1):
        for kind in ("best", "final"):
            policy = run.policy(0, member, kind)
            assert isinstance(policy, Policy)
            assert policy.provenance.seed == member
            assert policy.provenance.task == "inverted-pendulum"
    path = tmp_path / "run" / "policies" / "mlp-lower" / "seed-0.best.safetensors"
    actor = read_actor(path)
    assert actor.act([0.0, 0.1, 0.0, 0.0]).shape == (1,)
    assert actor.parameter_count == 79  # the paper's Table 1
    with (tmp_path / "run" / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    scores = [row for row in rows if row["metric"] == "score" and row["group"] == "icct-2-feature"]
    assert [row["step"] for row in scores if row["seed"] == "1"] == ["100", "200"]
    assert {row["metric"] for row in rows} >= {"episode_return", "score", "best_score"}
    assert list((tmp_path / "run" / "tensorboard").rglob("events*"))
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert about["groups"][0]["seeds"] == [0, 1]
    assert read_configs(tmp_path / "run") == tuple(configs)
    assert not (tmp_path / "run" / FILE).exists()


SCRIPT = """
import sys
from icct.learn.config import config_from_json
from icct.learn.train import resume, train
import json
if __name__ == "__main__":
    folder, config, compiled = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3] == "compiled"
    config = config_from_json(config, "test")
    train(config, folder, checkpoint_minutes=0.001, compile_update=compiled)
"""


def state_of(folder: Path, config: TrainConfig) -> dict[str, torch.Tensor]:
    group = Group(config, torch.device("cpu"), False)
    load_checkpoint(folder, [group])
    return group.state()


def straight_and_resumed(
    tmp_path: Path, config: TrainConfig, stop_at: int, compiled: bool = False
) -> None:
    """Compare a run with one that was killed after a checkpoint and resumed."""

    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    killed = tmp_path / "killed"
    how = "compiled" if compiled else "eager"
    arguments = [str(script), str(killed), json.dumps(config.as_json()), how]
    process = subprocess.Popen([sys.executable, *arguments], stderr=subprocess.PIPE)
    while not (killed / FILE).exists() or _step(killed) < stop_at:
        assert process.poll() is None, process.stderr.read()  # type: ignore[union-attr]
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert stop_at <= _step(killed) < config.steps
    resumed = resume(killed, compile_update=compiled)
    straight = train(config, tmp_path / "straight", compile_update=compiled)
    assert resumed.finished
    assert straight.finished
    for kind in ("best", "final"):
        assert resumed.policy(kind=kind).nodes == straight.policy(kind=kind).nodes
    assert _scores(killed) == _scores(tmp_path / "straight")


def _step(folder: Path) -> int:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / FILE, framework="numpy") as file:
            return int(json.loads(file.metadata()["progress"])["step"])
    except (SafetensorError, OSError):
        return -1


def _scores(folder: Path) -> list[tuple[str, ...]]:
    with (folder / "metrics.csv").open() as file:
        rows = [row for row in csv.reader(file) if row[3] in ("score", "episode_return")]
    return sorted(tuple(row) for row in rows)


def test_a_killed_and_resumed_run_is_the_same_run(tmp_path: Path) -> None:
    """Killed in the middle of an episode, with the replay partly filled."""
    straight_and_resumed(tmp_path, small(steps=600, evaluate_every=200), stop_at=300)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's compiler calls its own past
def test_a_compiled_run_resumes_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    config = small(steps=2000, evaluate_every=500)
    straight_and_resumed(tmp_path, config, stop_at=1000, compiled=True)


def stop(status: Status) -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_saves_and_a_resume_finishes(tmp_path: Path) -> None:
    run = train(small(steps=1500, learning_starts=1400), tmp_path / "run", report=stop)
    assert not run.finished
    assert (tmp_path / "run" / FILE).exists()
    again = resume(tmp_path / "run")
    assert again.finished
    assert again.members[0].best_score is not None


def test_a_member_trains_the_same_alone_and_among_others(tmp_path: Path) -> None:
    many = train(small(seeds=(3, 4, 5)), tmp_path / "many")
    alone = train(small(seeds=(4,)), tmp_path / "alone")
    one, other = many.policy(member=1, kind="final"), alone.policy(kind="final")
    assert isinstance(one, Policy)
    assert isinstance(other, Policy)
    observations = np.random.default_rng(0).normal(size=(100, 4))
    assert np.allclose(one.act_batch(observations), other.act_batch(observations), atol=1e-3)


METHODS = (
    "icct-static",
    "icct-1-feature",
    "icct-2-feature",
    "icct-3-feature",
    "icct-l1-sparse",
    "icct-complete",
    "cddt",
    "cddt-controllers",
    "mlp-max",
    "mlp-upper",
    "mlp-lower",
)


@pytest.mark.parametrize("task", ["inverted-pendulum", "lunar-lander"])
def test_every_method_trains(task: str, tmp_path: Path) -> None:
    configs = [small(task, method, steps=80, evaluate_every=80) for method in METHODS]
    assert train(configs, tmp_path / "run").finished
    assert len(list((tmp_path / "run" / "policies").rglob("*.final.*"))) == len(METHODS)


@pytest.mark.parametrize("algorithm", ["td3", "sac"])
def test_gumbel_trees_and_td3_train(algorithm: str, tmp_path: Path) -> None:
    config = small(method="icct-1-feature-gumbel", algorithm=algorithm)
    run = train(config, tmp_path / "run")
    assert isinstance(run.policy(), NoisyTreeActor)


def test_wrong_use_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="torch finds no CUDA GPU")
        if (not torch.cuda.is_available())
        else pytest.raises(ConfigError)
    ):
        train(small(), tmp_path / "a", device="cuda" if not torch.cuda.is_available() else "tpu")
    with pytest.raises(ConfigError, match="same task and method"):
        train([small(), small()], tmp_path / "b")
    assert not (tmp_path / "b").exists()
    with pytest.raises(ConfigError, match="is not a run folder"):
        resume(tmp_path)
    run = train(small(steps=60, learning_starts=50), tmp_path / "c")
    with pytest.raises(ConfigError, match="holds a run already"):
        train(small(), run.folder)
    about = json.loads((run.folder / "run.json").read_text())
    (run.folder / "run.json").write_text(json.dumps({**about, "version": 99}))
    with pytest.raises(ConfigError, match="a run of version 99"):
        resume(run.folder)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="torch finds no CUDA GPU"):
        train(small(), tmp_path / "run", device="cuda")
    assert not (tmp_path / "run").exists()


def test_a_full_disk_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from icct import files
    from icct.learn import checkpoint

    run = train(small(steps=1500, learning_starts=1400), tmp_path / "run", report=stop)
    before = (run.folder / FILE).read_bytes()
    group = Group(small(steps=1500, learning_starts=1400), torch.device("cpu"), False)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    progress = checkpoint.Progress(1, 0.0, 0, (), ())
    with pytest.raises(ConfigError, match="No space left on device"):
        checkpoint.save_checkpoint(run.folder, [group], progress)
    assert (run.folder / FILE).read_bytes() == before
    assert not list(run.folder.glob(".icct-*"))


def test_the_frozen_policy_is_what_the_file_says(tmp_path: Path) -> None:
    run = train(small(steps=60, learning_starts=50), tmp_path / "run")
    assert read_policy(tmp_path / "run" / "policies" / "seed-0.final.json") == run.policy(
        kind="final"
    )


def test_a_growing_run_resumes_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    growth = {"leaves": 2, "grow": True, "max_leaves": 8, "grow_every": 200, "grow_epsilon": 0.0}
    config = small(method="icct-static", steps=1000, evaluate_every=500, actor_lr=3e-3, **growth)
    straight_and_resumed(tmp_path, config, stop_at=700)
    assert "3 leaves at 600" in (tmp_path / "killed" / "log.txt").read_text()  # before the kill
    final = read_policy(tmp_path / "straight" / "policies" / "seed-0.final.json")
    assert 3 < len(final.leaves) <= 8


def test_only_long_runs_are_compiled_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = small(steps=60_000), small(steps=500_000)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert [pays_to_compile(c, torch.device("cpu")) for c in (short, long)] == [False, True]
    assert pays_to_compile(short, torch.device("cuda"))
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert not pays_to_compile(long, torch.device("cpu"))
