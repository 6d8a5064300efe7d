"""Long verbs say beforehand how long they take."""

import re

import pytest

from icct.cli.how_long import say_episodes, say_how_long
from icct.envs.catalog import INVERTED_PENDULUM
from icct.envs.pace import episodes_s, simulator_pace
from icct.learn.config import make_config


def test_a_training_is_measured_where_it_is_worth_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icct.recipe.plan.training_pace", lambda config, device: 100.0)
    config = make_config("inverted-pendulum", recipe="paper", seeds=(0, 1), steps=30_000)
    say_how_long([config], "cpu")
    assert capsys.readouterr().err == "30,000 steps of 2 members: about 5:00 min\n"
    say_how_long([config.changed(steps=1_000)], "cpu")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("icct.recipe.plan.training_pace", lambda config, device: None)  # a GPU
    say_how_long([config], "cuda")
    assert re.fullmatch(r"30,000 steps of 2 members\n", capsys.readouterr().err)


def test_episodes_share_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert simulator_pace(INVERTED_PENDULUM, look_s=0.1) > 10  # steps/s, of thousands
    monkeypatch.setattr("icct.envs.pace.simulator_pace", lambda task, look_s: 500.0)
    assert episodes_s(INVERTED_PENDULUM, 100, workers=2) == 100 * 1000 / (500 * 2)


def test_many_episodes_are_estimated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icct.envs.pace.simulator_pace", lambda task, look_s: 500.0)
    say_episodes(INVERTED_PENDULUM, 100, workers=2)
    assert capsys.readouterr().err == "100 episodes of at most 1,000 steps: about 1:40 min\n"
    say_episodes(INVERTED_PENDULUM, 5)
    assert capsys.readouterr().err == ""
