"""Extending: a place where another action pays is found by probes, and nothing else is added."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from icct.cli.main import main
from icct.envs.episodes import EpisodePool, Job
from icct.envs.find import find_task
from icct.errors import ConfigError
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.file import read_policy, write_policy
from icct.polish.extend import ExtendConfig, extend
from icct.polish.game import TaskGame
from icct.polish.journal import Journal
from icct.polish.probe import Probe, Prober, Probing, _shares
from icct.polish.regions import Region, grafted
from icct.polish.to_file import extend_to
from tests.polish.two_sides import BEYOND, PLACE, USUAL

NAME = f"{Path(__file__).with_name('two_sides.py')}:TwoSides"
TASK = find_task(NAME)
FEW = ExtendConfig(leaves=4, probes=300, rounds=2, episodes=16)


def before_tanh(action: float) -> Leaf:
    return Leaf((Controller((), float(np.arctanh(action))),))


def policy_of(*nodes: Split | Leaf) -> Policy:
    return Policy(
        name="sides", features=TASK.features, actions=TASK.actions,
        squash="tanh", nodes=nodes,
    )  # fmt: skip


ONE_RULE = policy_of(before_tanh(USUAL))
BOTH_RULES = policy_of(Split(0, PLACE, 1, 2), before_tanh(USUAL), before_tanh(BEYOND))


def test_the_place_is_found_and_the_rule_there_shifted() -> None:
    result = extend(ONE_RULE, TASK, FEW)
    assert result.improved
    assert np.mean(result.after) > np.mean(result.before) + 3  # of 16 that there are to gain
    splits = [node for node in result.policy.nodes if isinstance(node, Split)]
    assert any(split.feature == 0 and abs(split.threshold - PLACE) < 0.1 for split in splits)
    usual, beyond = result.policy.act([0.3, 0.5]), result.policy.act([0.9, 0.5])
    assert usual == pytest.approx([USUAL])
    assert beyond[0] > usual[0] + 0.3
    assert "more" in result.changes[0]
    assert len(result.policy.leaves) <= FEW.leaves


def test_two_workers_find_the_same() -> None:
    one, two = (extend(ONE_RULE, TASK, FEW, workers=workers) for workers in (1, 2))
    assert one == two


def test_a_stopped_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    whole, output = extend(ONE_RULE, TASK, FEW), tmp_path / "larger.json"
    calls, counts = 0, list[int]()

    def stop_at_the_sixth(played: int, most: int) -> None:
        nonlocal calls
        calls += 1
        counts.append(played)
        if calls == 6:  # after the probes of a round and the choice among its candidates
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extend_to(output, ONE_RULE, TASK, FEW, progress=stop_at_the_sixth)
    journal = tmp_path / "larger.json.journal"
    answered = len(journal.read_text().splitlines()) - 1  # without its head
    assert not output.exists()
    assert answered == 5
    with pytest.raises(ConfigError, match="--resume"):
        extend_to(output, ONE_RULE, TASK, FEW)
    with pytest.raises(ConfigError, match="its seed is 0, and now it is 1"):
        extend_to(output, ONE_RULE, TASK, replace(FEW, seed=1), resume=True)
    assert extend_to(output, ONE_RULE, TASK, FEW, resume=True) == whole
    assert read_policy(output) == whole.policy
    assert not journal.exists()


def test_what_was_played_is_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal"
    whole = extend(ONE_RULE, TASK, FEW, journal=journal)
    jobs = list[str]()
    answers = EpisodePool.answers

    def counted(self: EpisodePool, asked: list[Job]) -> list[object]:
        jobs.extend(job.play.__name__ for job in asked)
        return answers(self, asked)

    monkeypatch.setattr(EpisodePool, "answers", counted)
    assert extend(ONE_RULE, TASK, FEW, journal=journal, resume=True) == whole
    assert set(jobs) == {"own_episode"}


def test_what_cannot_be_better_stays() -> None:
    result = extend(BOTH_RULES, TASK, FEW)
    assert not result.improved
    assert result.policy == BOTH_RULES
    assert result.as_dict()["improved"] is False


def test_without_room_nothing_is_played() -> None:
    result = extend(ONE_RULE, TASK, replace(FEW, leaves=1))
    assert (result.policy, result.episodes) == (ONE_RULE, 0)


@pytest.mark.parametrize("wrong", [{"probes": 5}, {"rounds": 0}, {"episodes": 2}])
def test_too_little_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="Extending needs at least"):
        replace(FEW, **wrong)
    with pytest.raises(ConfigError, match="workers is 0"):
        extend(ONE_RULE, TASK, FEW, workers=0)


def test_a_probe_shifts_its_steps_alone() -> None:
    probing = Probing(ONE_RULE, {0: [2.0]}, Probe(seed=0, action=0, shift=1.5, first=2, steps=3))
    acted = [float(probing.act(np.array([0.5, 0.5]))[0]) for _ in range(7)]
    shifted = float(np.tanh(np.arctanh(USUAL) + 3.0))
    assert acted == pytest.approx([USUAL] * 2 + [shifted] * 3 + [USUAL] * 2)


def test_the_gain_of_a_probe_is_what_the_shift_brought() -> None:
    with EpisodePool(TASK, workers=1) as pool:
        memory = Journal(TaskGame.played_by(pool), None, {}, resume=False)
        prober = Prober(pool, memory, ONE_RULE, [1, 2, 3], np.random.default_rng(0))
        probed = prober.probe(200)
    up, beyond = probed.shifts > 0, probed.seen[:, 0] > PLACE
    assert np.all(probed.gains[up & beyond & (probed.seen[:, 0] < 0.9)] > 0)
    assert np.all(probed.gains[up & (probed.seen[:, 0] < PLACE - 0.1)] < 0)
    assert np.mean(up[100:]) > 0.9  # later probes are of the kind that has gained


@pytest.mark.parametrize("count", [2, 12, 60])
def test_shares_of_probes_are_shares_however_many_kinds_there_are(count: int) -> None:
    shares = _shares([0, 1, 1], [3.0, -2.0, 1.0], count)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() > 0
    assert shares.argmax() == 0


def test_a_region_becomes_splits_around_a_shifted_copy() -> None:
    conditions = ((0, 0.6, True), (1, 0.5, False))
    policy = grafted(BOTH_RULES, Region(2, 0, 1.0, conditions, 1.0, 0.1, 20))
    rule = replace(BOTH_RULES.leaf(2).controllers[0], bias=np.arctanh(BEYOND) + 1.0)
    for place, other in ((0.3, 0.3), (0.9, 0.7), (0.9, 0.3)):
        inside = place > 0.6 and other <= 0.5
        expected = np.tanh(rule.bias) if inside else BOTH_RULES.act([place, other])[0]
        assert policy.act([place, other])[0] == pytest.approx(expected)
    assert len(policy.leaves) == 4


def test_the_verb_writes_what_it_found_or_a_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--task", NAME, "--leaves", "4", "--probes", "300", "--episodes", "16"]
    for start, status, said in ((ONE_RULE, 0, "more"), (BOTH_RULES, 1, "nothing that surely pays")):
        file, larger = tmp_path / "start.json", tmp_path / f"larger-{status}.json"
        write_policy(start, file)
        asked = ["extend", str(file), *words, "--rounds", "1", "--workers", "1", "-o", str(larger)]
        assert main(asked) == status
        assert said in capsys.readouterr().out
        assert (len(read_policy(larger).leaves) > len(start.leaves)) is (status == 0)
    assert main(["extend", str(file), *words, "-o", str(file)]) == 2
    assert "--force" in capsys.readouterr().err
