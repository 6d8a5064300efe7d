"""`--track`: a run on Weights & Biases, here offline."""

from argparse import Namespace
from pathlib import Path

import pytest

from icct.cli.main import parser_of
from icct.cli.tracking import tracked
from icct.errors import MissingExtraError

WORDS = ["lane-keeping", "--track", "--wandb-project-name", "lanes", "--wandb-tags", "a", "b"]


def test_numbers_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with tracked(parser_of("train").parse_args(WORDS), (), tmp_path / "run") as run:
        assert run is not None
        assert (run.run.project, run.run.tags) == ("lanes", ("a", "b"))
        with (tmp_path / "run/metrics.csv").open("w") as file:
            file.write("step,group,seed,metric,value\n10,icct,0,score,7.25\n20,icct,0,sc")
            file.flush()
            run.follow()
            assert run.run.summary["icct/seed-0/score"] == 7.25
            file.write("ore,8.125\n")
        run.follow()
        assert run.run.summary["icct/seed-0/score"] == 8.125
    assert list((tmp_path / "run/wandb").glob("offline-run-*/*.wandb"))
    wandb.teardown()  # its process would outlive the test


def test_nothing_happens_unasked(tmp_path: Path) -> None:
    with tracked(Namespace(track=False), (), tmp_path / "run") as run:
        assert run is None
    assert not list(tmp_path.iterdir())


def test_without_wandb_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    with (
        pytest.raises(MissingExtraError, match=r"icct\[track\]"),
        tracked(parser_of("train").parse_args(WORDS), (), tmp_path / "run"),
    ):
        pass
