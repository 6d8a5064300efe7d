"""icct tune: what is asked for, what goes on after a stop, and the front."""

import dataclasses
import json
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.envs.catalog import TASKS
from icct.errors import ConfigError
from icct.policy.file import read_policy
from icct.tune import Tuning, tune
from icct.tune.config import Setting
from icct.tune.folder import Scored, TuneFolder
from icct.tune.front import front_of
from icct.tune.study import Worker
from icct.work.piece import Outcome

pytest.importorskip("optuna")
from icct.tune.sampler import Sampler

PENDULUM = TASKS["inverted-pendulum"]
SMALL = Tuning(budget=8, features=(1, 2), leaves=(2, 4), polish_episodes=(0,), fresh_episodes=2)
FEW = ("--features", "4", "--leaves", "2", "--polish-episodes", "0", "--rounds", "1")
FEW += ("--validation-episodes", "2", "--fresh-episodes", "2", "--no-forecast", "--device", "cpu")


def scored(parameters: int, mean: float, name: str = "tree-000") -> Scored:
    return Scored(name, Setting(2, 1, None, None, 0), parameters, 2, mean, 0.0)


def test_the_front_has_what_no_smaller_or_equal_tree_matches():
    trees = [scored(9, 5.0), scored(9, 6.0), scored(13, 6.0), scored(20, 8.0), scored(31, 7.0)]
    assert [(one.parameters, one.mean) for one in front_of(trees)] == [(9, 6.0), (20, 8.0)]
    assert front_of([]) == []


def test_the_same_seed_and_scores_ask_for_the_same_trees():
    def asked(seed: int, good: int) -> list[Setting]:
        tuning = dataclasses.replace(SMALL, budget=24, seed=seed, features=(0, 1, 2, 3))
        sampler, found = Sampler(tuning), []
        for _ in range(4):
            settings = sampler.ask(6)
            found += settings
            sampler.tell([scored(9 * s.leaves, float(s.features == good)) for s in settings])
        return found

    first = asked(0, good=3)
    assert first == asked(0, good=3)
    assert first != asked(1, good=3)
    assert first[:12] == asked(0, good=0)[:12]  # before it learns
    assert first != asked(0, good=0)  # what it is told matters
    assert first[0].leaves == 2  # the smallest and the largest come first
    assert first[1].leaves == 4
    assert {s.features for s in first[:2]} == {3}
    assert len(set(first)) == 24  # none of them twice


class Bench:
    """Does pieces of work in this process: writes scores that their settings decide."""

    def __init__(self, folder: Path, until: int = 1000) -> None:
        self.folder, self.until, self.done = TuneFolder(folder), until, list[str]()

    def __call__(self, pieces):
        outcome = Outcome()
        for piece in pieces:
            if len(self.done) == self.until:
                outcome.stopped.append(piece.name)
                continue
            self.done.append(piece.name)
            outcome.done.append(piece.name)
            kind, _, name = piece.name.partition("-")
            if kind == "try":
                setting = self.folder.asked(name)
                scores = {"mean": setting.features + 0.1 * setting.leaves, "standard_error": 0.0}
                values = {"parameters": 3 * setting.leaves, "leaves": 2, "validation": scores}
                self.folder.trial(name, ".json").write_text(json.dumps(values))
        return outcome


def test_a_search_that_was_stopped_goes_on_and_repeats_nothing(tmp_path):
    tuning = dataclasses.replace(SMALL, teacher_files=("zoo:pole-balancer",))
    worker = Worker(("tune", "inverted-pendulum"))
    first = Bench(tmp_path, until=4)
    stopped = tune(tmp_path, PENDULUM, tuning, first, worker)
    assert not stopped.outcome.complete
    assert len(stopped.trees) == 4
    second = Bench(tmp_path, until=4)
    tune(tmp_path, PENDULUM, tuning, second, worker)
    assert not set(first.done) & set(second.done)
    assert sorted(first.done + second.done) == [f"try-tree-00{n}" for n in range(8)]
    straight = Bench(tmp_path / "other", until=8)
    (tmp_path / "other").mkdir()
    whole = tune(tmp_path / "other", PENDULUM, tuning, straight, worker)
    asked = [TuneFolder(tmp_path).asked(one.name) for one in whole.trees]
    assert asked == [one.setting for one in whole.trees]
    other = dataclasses.replace(tuning, budget=9)
    with pytest.raises(ConfigError, match="another search: its budget is 8, and now it is 9"):
        tune(tmp_path, PENDULUM, other, Bench(tmp_path), worker)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"features": (8,)}, "features has 8"),
        ({"leaves": ()}, "leaves is"),
        ({"polish_episodes": (50,)}, "at least 100"),
        ({"learning_rates": (1.0, 1.0)}, "each once"),
        ({"learning_rates": (0.0,)}, "more than 0"),
    ],
)
def test_wrong_searches_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Tuning(**wrong)


def test_rules_have_no_more_features_than_the_task():
    assert Tuning(features=(0, 4, 5)).fitting(PENDULUM).features == (0, 4)
    with pytest.raises(ConfigError, match="has 4 features"):
        Tuning(features=(5,)).fitting(PENDULUM)


def test_teachers_are_one_population_with_a_learning_rate_each():
    config = Tuning(seed=2, teacher_steps=1000).teachers(PENDULUM, 16)
    assert config.seeds == (6, 7, 8)
    low, usual, high = config.per_member("actor_lr")
    assert (low / usual, high / usual) == pytest.approx((0.3, 3.0))
    assert (config.steps, config.tree.leaves) == (1000, 16)
    assert config.evaluation.stop_score is None


def done_here(pieces, **options):
    """Do pieces of work in this process; starting Python takes longer than they do."""
    outcome = Outcome()
    for piece in pieces:
        assert main([*piece.begin, *piece.machine]) == 0
        outcome.done.append(piece.name)
    return outcome


def test_the_command_makes_a_front_of_a_tree_that_balances(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("icct.work.drive.drive", done_here)
    words = ["tune", "inverted-pendulum", "--teacher", "zoo:inverted-pendulum/icct-complete"]
    words += ["--budget", "1", "--out", str(tmp_path), *FEW]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "# inverted-pendulum: return against active parameters" in told
    (file,) = (tmp_path / "front").iterdir()
    policy = read_policy(file)
    assert file.name == f"{policy.parameter_count}-parameters.json"
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
    score = json.loads((tmp_path / "trials" / "tree-000.json").read_text())
    assert score["parameters"] == policy.parameter_count <= 20
    assert len(score["validation"]["returns"]) == 2
    assert main([*words]) == 0  # again: nothing is left to do
    assert capsys.readouterr().out == told
