"""Rounds, what they keep, and that a stopped distillation goes on as if it had not stopped."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from icct import read_policy, write_policy
from icct.cli.main import main
from icct.distill import Pairs, Request, distill, rounds
from icct.envs.actor import Actor
from icct.envs.catalog import INVERTED_PENDULUM
from icct.envs.drivers import find_driver
from icct.envs.episodes import EpisodePool, Job, mean_and_error, returns
from icct.errors import ConfigError
from icct.policy import Controller, Feature, Leaf, Policy, Split
from icct.seeds import Purpose, seeds_above

BALANCE = Policy(
    "balance",
    INVERTED_PENDULUM.features,
    INVERTED_PENDULUM.actions,
    (Leaf((Controller(((0, 1.0), (1, 15.0), (2, 1.5), (3, 2.5))),)),),
    "clip",
)


TWO_LEAVES = Policy(
    "two-leaves",
    INVERTED_PENDULUM.features,
    INVERTED_PENDULUM.actions,
    (
        Split(1, 0.01, 1, 2),
        Leaf((Controller(((0, 0.2), (1, 3.0), (2, 0.3), (3, 0.5)), 0.1),)),
        Leaf((Controller(((0, 0.3), (1, 4.0), (2, 0.5), (3, 0.8)), -0.1),)),
    ),
)


def request(**changes: object) -> Request:
    values = {"leaves": 8, "episodes": 2, "seed": 1, "validation_episodes": 3} | changes
    return Request(**values)  # type: ignore[arg-type]


def test_each_round_adds_what_the_student_saw() -> None:
    result = distill(BALANCE, INVERTED_PENDULUM, request(dagger=3))
    assert result.teacher_mean == 1000
    assert len(result.rounds) == 4
    assert result.rounds[0].pairs == 2000  # two whole episodes of the teacher
    for earlier, later in zip(result.rounds, result.rounds[1:], strict=False):
        # Every step of an episode gives a pair; the last step of a fall has reward 0.
        added = later.pairs - earlier.pairs
        assert 2 * earlier.mean <= added <= 2 * earlier.mean + 2
    assert len(result.policy.leaves) <= 8
    assert result.policy.provenance.method == "dt-dagger"


def test_the_best_rounds_are_compared_on_validation_episodes() -> None:
    result = distill(BALANCE, INVERTED_PENDULUM, request(dagger=4))
    played = {i for i, this in enumerate(result.rounds) if this.validation_mean is not None}
    drove_best = sorted(range(5), key=lambda i: (result.rounds[i].mean, i))[-3:]
    assert played == set(drove_best)
    chosen = result.rounds[result.best]
    assert chosen.validation_mean == max(result.rounds[i].validation_mean or 0 for i in played)
    seeds = seeds_above(Purpose.CHOOSE, 1, range(3))
    with EpisodePool(INVERTED_PENDULUM, 1) as pool:
        (again,) = pool.answers([Job(returns, result.policy, seeds)])
    assert (result.mean, result.standard_error) == mean_and_error(again)


def test_any_number_of_workers_gives_the_same_tree() -> None:
    alone = distill(BALANCE, INVERTED_PENDULUM, request(dagger=1, leaves=4))
    assert distill(BALANCE, INVERTED_PENDULUM, request(dagger=1, leaves=4), workers=2) == alone


def test_the_teachers_splits_are_kept() -> None:
    asked = request(leaves=None, features=2, splits="teacher", dagger=1)
    result = distill(TWO_LEAVES, INVERTED_PENDULUM, asked)
    assert result.policy.nodes[0] == TWO_LEAVES.nodes[0]
    assert result.policy.provenance.method == "distilled-2-feature-dagger"
    assert dict(result.policy.provenance.config)["leaves"] == 2
    for index in (1, 2):
        assert len(result.policy.leaf(index).controllers[0].weights) == 2
    constants = distill(TWO_LEAVES, INVERTED_PENDULUM, replace(asked, features=None))
    assert constants.policy.leaf(1).controllers[0].weights == ()
    assert constants.policy.provenance.method == "distilled-static-dagger"


def test_constants_that_can_be_trained_on() -> None:
    tree = distill(BALANCE, INVERTED_PENDULUM, request(features=0)).policy
    assert tree.squash == "tanh"
    assert 2 <= len(tree.leaves) <= 8
    assert all(tree.leaf(index).controllers[0].weights == () for index in tree.leaves)
    assert tree.provenance.method == "distilled-static"


@pytest.mark.parametrize(
    ("teacher", "leaves", "says"),
    [
        (find_driver("driver:random", INVERTED_PENDULUM), 8, "is not a tree"),
        (BALANCE, 8, "has no split to keep"),
        (
            replace(TWO_LEAVES, nodes=(
                Split(0, 0.0, 1, 2), Split(1, 0.0, 3, 4), *TWO_LEAVES.nodes[1:], BALANCE.nodes[0]
            )),
            2,
            "has 3 leaves, expected at most 2",
        ),
        (
            replace(TWO_LEAVES, features=(
                Feature("other"), *TWO_LEAVES.features[1:]
            )),
            8,
            "other features",
        ),
    ],
)  # fmt: skip
def test_a_teacher_without_fitting_splits_is_refused(
    teacher: Actor, leaves: int, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        distill(teacher, INVERTED_PENDULUM, request(leaves=leaves, features=2, splits="teacher"))


def test_the_student_is_good_where_errors_cost_most() -> None:
    seen: list[Pairs] = []

    def right_hand(pairs: Pairs) -> np.ndarray:
        seen.append(pairs)
        return np.where(pairs.observations[:, 1] > 0.01, 1.0, 0.0)

    asked = request(leaves=2, features=4, episodes=1)
    result = distill(TWO_LEAVES, INVERTED_PENDULUM, asked, importance=right_hand)
    (pairs,) = seen
    inside = pairs.observations[:, 1] > 0.01
    missed = np.abs(result.policy.act_batch(pairs.observations) - pairs.actions)[:, 0]
    assert missed[inside].max() < 0.01 < missed[~inside].max()


def test_balanced_trees() -> None:
    result = distill(BALANCE, INVERTED_PENDULUM, request(features=1, balanced=True))
    assert [d for d, i in result.policy.levels() if i in result.policy.leaves] == [3] * 8
    constant = distill(BALANCE, INVERTED_PENDULUM, request(leaves=4, balanced=True))
    assert len(constant.policy.leaves) == 4
    assert constant.policy.provenance.method == "distilled-static"


def test_linear_leaves_find_a_linear_teacher() -> None:
    result = distill(BALANCE, INVERTED_PENDULUM, request(leaves=2, features=4, episodes=3))
    assert result.rounds[0].mean == 1000
    assert result.policy.squash == "tanh"
    assert result.policy.provenance.method == "distilled-4-feature"


def test_the_same_seed_gives_the_same_tree() -> None:
    assert (
        distill(BALANCE, INVERTED_PENDULUM, request(dagger=1)).policy
        == distill(BALANCE, INVERTED_PENDULUM, request(dagger=1)).policy
    )


def test_a_stopped_distillation_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = distill(BALANCE, INVERTED_PENDULUM, request(dagger=2))
    kept, real = tmp_path / "rounds.npz", rounds.collect
    calls: list[object] = []

    def stopping(*arguments: object, **options: object) -> object:
        calls.append(options["seed"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(rounds, "collect", stopping)
    with pytest.raises(KeyboardInterrupt):
        distill(BALANCE, INVERTED_PENDULUM, request(dagger=2), progress_file=kept)
    assert kept.exists()
    resumed = distill(BALANCE, INVERTED_PENDULUM, request(dagger=2), progress_file=kept)
    assert resumed == straight
    assert len(calls) == 3 + 2  # the two rounds that were missing, no more
    assert distill(BALANCE, INVERTED_PENDULUM, request(dagger=2), progress_file=kept) == straight
    assert len(calls) == 3 + 2  # nothing is lost before the caller has kept the result


def test_a_stop_while_validating_loses_no_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request(dagger=2, episodes=1, leaves=4)
    straight = distill(BALANCE, INVERTED_PENDULUM, asked)
    kept, real = tmp_path / "rounds.npz", rounds._Rounds._validate
    calls: list[object] = []

    def stopping(*arguments: object) -> object:
        calls.append(arguments[1])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(rounds._Rounds, "_validate", stopping)
    with pytest.raises(KeyboardInterrupt):
        distill(BALANCE, INVERTED_PENDULUM, asked, progress_file=kept)
    resumed = distill(BALANCE, INVERTED_PENDULUM, asked, progress_file=kept)
    assert resumed.policy == straight.policy
    assert resumed.mean == straight.mean
    assert len(calls) == 2 + 2  # the first score was kept


def test_rounds_of_another_request_are_refused(tmp_path: Path) -> None:
    kept = tmp_path / "rounds.npz"
    kept.write_bytes(b"nonsense")
    with pytest.raises(ConfigError, match="cannot be read"):
        distill(BALANCE, INVERTED_PENDULUM, request(), progress_file=kept)
    np.savez(kept, about=np.array("{}"))
    with pytest.raises(ConfigError, match="Remove it to start anew"):
        distill(BALANCE, INVERTED_PENDULUM, request(), progress_file=kept)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"leaves": 1}, "leaves is 1"),
        ({"dagger": -1}, "dagger is -1"),
        ({"episodes": 0}, "episodes is 0"),
        ({"features": -1}, "features is -1"),
        ({"leaves": None}, "leaves is missing"),
        ({"splits": "none"}, "expected one of grow, teacher"),
        ({"splits": "teacher", "balanced": True}, "keep its shape"),
        ({"balanced": True, "leaves": 6}, "power of two"),
        ({"validation_episodes": 0}, "validation_episodes is 0"),
    ],
)
def test_wrong_requests_are_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        request(**changes)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teacher, out = tmp_path / "teacher.json", tmp_path / "tree.json"
    write_policy(BALANCE, teacher)
    words = ["distill", str(teacher), "--task", "inverted-pendulum", "--leaves", "4"]
    words += ["--features", "2", "--dagger", "1", "--episodes", "1", "-o", str(out)]
    words += ["--validation-episodes", "2"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "round 0: 1000 pairs" in text
    assert text.count(", validation ") == 2
    assert "<- written" in text
    assert len(read_policy(out).leaves) <= 4
    assert sorted(tmp_path.iterdir()) == [teacher, out]
    assert main([*words, "--json"]) == 0
    assert '"rounds"' in capsys.readouterr().out


def test_the_command_keeps_the_teachers_splits(tmp_path: Path) -> None:
    teacher, out = tmp_path / "teacher.json", tmp_path / "tree.json"
    write_policy(TWO_LEAVES, teacher)
    words = ["distill", str(teacher), "--task", "inverted-pendulum", "--features", "2"]
    words += ["--episodes", "1", "--validation-episodes", "1", "-o", str(out)]
    assert main([*words, "--splits", "teacher"]) == 0
    assert read_policy(out).nodes[0] == TWO_LEAVES.nodes[0]
    assert main(words) == 2  # a new tree needs --leaves
