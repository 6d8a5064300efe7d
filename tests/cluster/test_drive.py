"""A cluster's work: what one worker does, and all of it on a real Ray cluster of two workers."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.cluster.command import run_command
from icct.cluster.connect import connected, import_ray
from icct.cluster.drive import Place, Share, do
from icct.errors import ConfigError, MissingExtraError
from icct.lock import is_held, only_writer
from icct.tune.sampler import import_optuna
from icct.work.piece import Piece

ROOT = Path(__file__).parents[2]


def test_a_real_cluster_of_two_workers_with_a_kill(tmp_path):
    pytest.importorskip("ray")
    script = Path(__file__).with_name("on_ray.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.stdout.strip().endswith("all is well"), done.stderr[-3000:]


def test_a_node_that_does_not_see_the_folders_or_has_another_icct_says_so(tmp_path):
    piece = Piece("show", "t", ("show", "zoo:ring-cruiser"), ())
    with pytest.raises(ConfigError, match=r"does not see .*/away"):
        do(piece, Place(tmp_path, tmp_path / "away"), threads=1)
    with pytest.raises(ConfigError, match=r"and the driver 9\.9"):
        do(piece, Place(tmp_path, tmp_path, version="9.9"), threads=1)


def test_what_each_piece_takes_of_its_node():
    train = Piece("train", "t", ("train",), ())
    play = Piece("play", "t", ("evaluate",), (), trains=False)
    share = Share(cpus=2.0, gpus=0.25)
    assert share.options(train)["num_gpus"] == 0.25
    assert share.options(play)["num_gpus"] == 0.0
    assert share.options(play)["num_cpus"] == 2.0


def test_a_command_has_its_output_in_a_log_and_its_status(tmp_path):
    log = tmp_path / "log"
    assert run_command(["show", "zoo:ring-cruiser"], log, tmp_path, threads=1) == 0
    assert run_command(["show", "zoo:nothing"], log, tmp_path, threads=1) == 2
    assert "ring-cruiser: 3 leaves" in log.read_text()
    assert "nothing" in log.read_text()


def test_whether_a_lock_is_held(tmp_path):
    lock = tmp_path / "run.lock"
    assert not is_held(lock)
    with only_writer(tmp_path, lock):
        assert is_held(lock)
    lock.touch()  # left by a crash
    assert not is_held(lock)


def test_where_no_cluster_answers(monkeypatch):
    ray = pytest.importorskip("ray")

    def refuse(**options):
        raise ConnectionError("nobody there")

    monkeypatch.setattr(ray, "init", refuse)
    handler = signal.getsignal(signal.SIGTERM)
    message = r"--cluster 10\.0\.0\.1:6379: no Ray cluster answers"
    with pytest.raises(ConfigError, match=message), connected("10.0.0.1:6379"):
        pass
    assert signal.getsignal(signal.SIGTERM) is handler


def test_without_ray_or_optuna_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "optuna", None)
    for needed in (import_ray, import_optuna):
        with pytest.raises(MissingExtraError, match=r'pip install "icct\[cluster\]"'):
            needed()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("bench table1 --gpus 0.5 --plan", "go with --cluster"),
        ("bench table1 --cluster local --device cuda --plan", "needs a share of a GPU"),
        ("bench table1 --cluster local --cpus 0 --plan", "more than 0 CPUs"),
        (
            "polish zoo:pole-balancer --minutes 1 --cluster local --workers 2 -o x",
            "of this machine",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(words, message, capsys):
    assert main(words.split()) == 2
    assert message in capsys.readouterr().err
