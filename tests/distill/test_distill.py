"""Rounds, what they keep, and that a stopped distillation goes on as if it had not stopped."""

from pathlib import Path

import numpy as np
import pytest

from icct import read_policy, write_policy
from icct.cli.main import main
from icct.distill import Request, distill, rounds
from icct.envs.catalog import INVERTED_PENDULUM
from icct.errors import ConfigError
from icct.policy import Controller, Leaf, Policy

BALANCE = Policy(
    "balance",
    INVERTED_PENDULUM.features,
    INVERTED_PENDULUM.actions,
    (Leaf((Controller(((0, 1.0), (1, 15.0), (2, 1.5), (3, 2.5))),)),),
    "clip",
)


def request(**changes: object) -> Request:
    values = {"leaves": 8, "episodes": 2, "seed": 1} | changes
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
    best = max(this.mean for this in result.rounds)
    assert result.rounds[result.best].mean == best
    assert len(result.policy.leaves) <= 8
    assert result.policy.provenance.method == "dt-dagger"


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
        ({"features": 0}, "constant leaves are what CART"),
    ],
)
def test_wrong_requests_are_refused(changes: dict[str, int], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        request(**changes)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teacher, out = tmp_path / "teacher.json", tmp_path / "tree.json"
    write_policy(BALANCE, teacher)
    words = ["distill", str(teacher), "--task", "inverted-pendulum", "--leaves", "4"]
    words += ["--features", "2", "--dagger", "1", "--episodes", "1", "-o", str(out)]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "round 0: 1000 pairs" in text
    assert "<- written" in text
    assert len(read_policy(out).leaves) <= 4
    assert sorted(tmp_path.iterdir()) == [teacher, out]
    assert main([*words, "--json"]) == 0
    assert '"rounds"' in capsys.readouterr().out
