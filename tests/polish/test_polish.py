import dataclasses
import json
import os
import sys

import pytest

from icct.envs.catalog import TASKS
from icct.errors import ConfigError
from icct.policy import Controller, Leaf, Policy
from icct.polish import PolishConfig, polish, search
from icct.polish.choice import ChoicePlan
from icct.polish.effort import MOST_EPISODES
from icct.polish.game import TaskGame
from icct.polish.journal import Journal
from icct.polish.polish import _choice, _qualified, fingerprint, polish_on
from tests.polish.toys import QuadraticGame, StoppedGame, two_leaves

SMALL = PolishConfig(evaluations=4000, validation_episodes=50, report_episodes=20)

TINY = PolishConfig(evaluations=500, validation_episodes=10, report_episodes=0)


def test_a_noisy_quadratic_is_solved():
    game, start = QuadraticGame(), two_leaves()
    result = polish_on(game, start, "toy", SMALL)
    assert result.improved
    assert game.value(start) < -0.3
    assert game.value(result.policy) > -0.05
    assert result.episodes <= SMALL.evaluations + 500


def plateau(reward):
    """A game whose return is a function of the threshold alone, without noise."""
    game = QuadraticGame(noise=0.0)
    game.value = lambda policy: reward(policy.nodes[0].threshold)
    return game


def test_a_search_that_has_come_to_a_plateau_restarts_with_larger_steps(monkeypatch):
    """The way up begins beyond what the first steps reach."""
    game = plateau(lambda threshold: max(0.0, abs(threshold) - 0.5))
    monkeypatch.setattr(search.SearchDistribution, "tell", tell_without_widening)
    assert polish_on(game, two_leaves(), "toy", SMALL).improved
    monkeypatch.setattr(search, "FIRST_STEPS", (0.15,))
    assert not polish_on(game, two_leaves(), "toy", SMALL).improved


@pytest.mark.parametrize(("width", "step"), [(0.02, 0.05), (1.0, 0.15)])
def test_a_policy_that_usual_steps_would_spoil_begins_with_small_ones(width, step, monkeypatch):
    """The start is near a summit of some width; its returns vary by a tenth of the height."""
    begun = []

    def distribution(policy, seen, rng, first, budget):
        begun.append(made := DISTRIBUTION(policy, seen, rng, first, budget))
        made.first = first
        return made

    monkeypatch.setattr(search, "SearchDistribution", distribution)
    game = plateau(lambda threshold: -min(1.0, abs(threshold - 0.01) / width))
    game.noise = 0.1
    run = search.Search(two_leaves(), Journal(game, None, {}, resume=False), SMALL)
    run._begin(run.start.policy)
    assert [one.first for one in begun] == [0.15, 0.45, 0.05]
    assert run._distribution.first == step
    run.status.generation = 1
    run._begin(run.start.policy)  # a restart: with the next
    assert run._distribution.first == {0.05: 0.15, 0.15: 0.45}[step]


DISTRIBUTION = search.SearchDistribution


def tell_without_widening(self, scores):
    """Leave the distribution of a plateau as it is."""
    if min(scores) < max(scores):
        TELL(self, scores)


TELL = search.SearchDistribution.tell


def test_restarts_begin_at_the_start_and_at_the_best_validated_policy_in_turn(monkeypatch):
    begun = []

    def begin(self, policy):
        begun.append((policy, self.incumbent.policy))
        begin_as_ever(self, policy)

    begin_as_ever = search.Search._begin
    monkeypatch.setattr(search.Search, "_begin", begin)
    game, start = plateau(lambda threshold: min(1.0, 5 * threshold)), two_leaves()
    result = polish_on(game, start, "toy", SMALL)
    assert result.improved
    assert not result.nothing_to_gain  # the start could gain
    assert len(begun) > 4
    assert all(policy is start for policy, _ in [begun[0], *begun[1::2]])
    assert all(policy is incumbent is not start for policy, incumbent in begun[2::2])


def test_where_nothing_can_be_gained_the_search_ends_early():
    game = plateau(lambda threshold: 1000.0 if abs(threshold) < 0.5 else 10.0)
    result = polish_on(game, start := two_leaves(), "toy", SMALL)
    assert result.policy is start
    assert result.nothing_to_gain
    assert result.episodes < SMALL.evaluations / 2
    assert "nothing to gain over 1000.00 in every episode" in result.as_text()


def test_a_start_whose_returns_vary_may_still_gain_something():
    game = QuadraticGame(noise=0.001)
    game.value = lambda policy: 0.0
    assert not polish_on(game, two_leaves(), "toy", SMALL).nothing_to_gain


def test_checks_that_find_the_mean_no_higher_enlarge_the_population():
    game = QuadraticGame()
    run = search.Search(two_leaves(), Journal(game, None, {}, resume=False), SMALL)
    run._begin(run.start.policy)
    run._effort.episodes = MOST_EPISODES["mean"]
    run._check()
    assert run._effort.population == 1.0
    run._check()  # the same mean: no higher
    assert run._effort.population > 1.0


def test_the_last_generation_is_checked_once(monkeypatch):
    checked = []

    def check(self):
        checked.append(self.status.generation)
        check_as_ever(self)

    check_as_ever = search.Search._check
    monkeypatch.setattr(search.Search, "_check", check)
    run = search.Search(two_leaves(), Journal(QuadraticGame(), None, {}, resume=False), SMALL)
    run.run()
    assert checked == sorted(set(checked))
    assert checked[-1] == run.status.generation
    assert checked[0] > 3  # they are spread over the run


@pytest.mark.parametrize(
    ("evaluations", "plan"), [(500, (1, 1)), (2000, (1, 2)), (4000, (1, 4)), (8000, (3, 4))]
)
def test_the_choice_is_as_thorough_as_the_budget_affords(evaluations, plan):
    config = dataclasses.replace(SMALL, evaluations=evaluations)
    memory = Journal(QuadraticGame(), None, {}, resume=False)
    run = search.Search(two_leaves(), memory, config)
    assert run.choice_plan == plan
    run.run()
    to_come = run.choice_plan.batches_played * config.batch
    assert memory.episodes <= evaluations - to_come + 100  # a generation's


def test_the_best_at_the_checks_must_qualify_among_the_finalists():
    """Checks have few episodes: the best of many at them is often one that was lucky."""
    config = dataclasses.replace(SMALL, evaluations=8000)
    memory = Journal(QuadraticGame(), None, {}, resume=False)
    run = search.Search(start := two_leaves(), memory, config)
    lucky, best, worse, fourth = (two_leaves(below=((), bias)) for bias in (0.5, -0.8, 0.2, -0.8))
    for policy, seen in ((worse, 8.0), (lucky, 9.0), (fourth, 6.0), (best, 7.0)):
        run._tried.append(search.Validated(policy, [seen] * config.validation_episodes))
    plan = run.choice_plan
    assert plan.finalists == 3
    assert run.finalists(3) == []  # where the start was the best at all checks
    run.incumbent = run._tried[1]
    assert [one.policy for one in run.finalists(3)] == [lucky, worse, best]
    rival = _qualified(run, memory, plan)
    assert rival.policy is best
    assert _choice(run, memory, plan, rival)[0]
    assert not _choice(run, memory, plan, run.incumbent)[0]
    assert start is run.start.policy


def test_the_final_test_never_sees_the_episodes_of_the_finalists(monkeypatch):
    """Also by the clock, where the budget may afford less when the finalists have played."""
    config = dataclasses.replace(SMALL, evaluations=8000)
    game, asked = QuadraticGame(), []
    played = game.returns
    game.returns = lambda questions: (asked.append([s for _, s in questions]), played(questions))[1]

    def qualified(*arguments):
        found = qualify(*arguments)
        monkeypatch.setattr(search.Search, "choice_plan", ChoicePlan(1, 1))  # time has run short
        return found

    module = sys.modules[polish.__module__]
    qualify = module._qualified
    monkeypatch.setattr(module, "_qualified", qualified)
    assert polish_on(game, two_leaves(), "toy", config).improved
    batches = [seeds for seeds in asked if len(seeds[0]) == config.batch]
    assert [len(seeds) for seeds in batches[:2]] == [3, 2]  # three finalists, then two
    assert not set(batches[0][0]) & set(batches[1][0])


def test_a_report_is_not_played_where_none_is_asked_for():
    config = dataclasses.replace(SMALL, evaluations=500, report_episodes=0)
    result = polish_on(QuadraticGame(), two_leaves(), "toy", config)
    assert result.report is None
    assert result.as_dict()["report"] is None
    assert "report" not in result.as_text()


def test_every_core_plays_unless_told_otherwise(monkeypatch):
    asked = []

    class Counted(TaskGame):
        """Remembers how many workers were asked for, and makes one."""

        def __init__(self, task, workers, check):
            asked.append(workers)
            super().__init__(task, 1, check)

    monkeypatch.setattr(sys.modules[polish.__module__], "TaskGame", Counted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5})
    task, config = TASKS["inverted-pendulum"], dataclasses.replace(TINY, evaluations=100)
    falling = Policy(
        "f", task.features, task.actions, (Leaf((Controller((), 1.0),)),), squash="clip"
    )
    results = [polish(falling, task, config, workers=workers) for workers in (None, 2)]
    assert asked == [3, 2]
    assert results[0].policy == results[1].policy


def test_progress_is_the_share_of_the_budget_that_was_played():
    shares = []

    def note(status):
        shares.append((status.fraction, status.episodes / SMALL.evaluations))

    polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, progress=note)
    assert all(share == pytest.approx(played) for share, played in shares)
    assert shares[0][0] < 0.1 < 0.7 < shares[-1][0] < 1.0


def test_what_cannot_be_improved_is_returned_as_it_is():
    threshold, below, above = QuadraticGame.best
    start = two_leaves(0, threshold, ((), below), ((), above))
    for seed in range(5):
        config = PolishConfig(evaluations=1000, seed=seed, validation_episodes=50)
        result = polish_on(QuadraticGame(), start, "toy", config)
        assert result.policy is start
        assert not result.improved
        assert result.report.start == result.report.result
        assert "the original is kept" in result.as_text()


def test_where_a_policy_comes_from_is_noted():
    start = two_leaves()
    result = polish_on(QuadraticGame(), start, "toy", SMALL)
    sentence = result.policy.provenance.history[-1]
    assert sentence.startswith(f"polished from {fingerprint(start)}: {result.episodes:,} episodes")
    assert result.policy.nodes[0].feature == start.nodes[0].feature


def test_the_same_seed_gives_the_same_policy_and_another_another():
    first, again = (polish_on(QuadraticGame(), two_leaves(), "toy", SMALL) for _ in range(2))
    assert first == dataclasses.replace(again, elapsed_s=first.elapsed_s)
    other = polish_on(QuadraticGame(), two_leaves(), "toy", dataclasses.replace(SMALL, seed=1))
    assert other.policy != first.policy


def test_the_worst_tenth_is_another_objective():
    class Risky(QuadraticGame):
        """The return is the threshold; but above 0.2, in one episode of five, its opposite."""

        def returns(self, questions):
            return [[self._return(p.nodes[0].threshold, s) for s in ss] for p, ss in questions]

        def _return(self, threshold, seed):
            return -threshold if threshold > 0.2 and seed % 5 == 0 else threshold

    daring, careful = (
        polish_on(
            Risky(),
            two_leaves(),
            "toy",
            dataclasses.replace(SMALL, objective=objective),
        )
        .policy.nodes[0]
        .threshold
        for objective in ("mean", "worst-10%")
    )
    assert daring > 1
    assert 0.1 < careful <= 0.2


def test_what_must_stay_true_does():
    def accept(policy):
        return policy.nodes[0].threshold <= 0.1

    result = polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, accept=accept)
    assert result.improved
    assert 0.0 < result.policy.nodes[0].threshold <= 0.1
    with pytest.raises(ConfigError, match="has to hold at the start"):
        polish_on(QuadraticGame(), two_leaves(threshold=0.2), "toy", SMALL, accept=accept)


def test_control_c_keeps_the_best_so_far():
    game = StoppedGame(QuadraticGame(noise=0.1), at=60, error=KeyboardInterrupt())
    result = polish_on(game, two_leaves(), "toy", SMALL)
    assert result.stopped
    assert result.improved
    assert result.report is None
    assert game.game.value(result.policy) > game.game.value(two_leaves())
    assert ", stopped" in result.as_text()


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("at", [2, 40])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(tmp_path, at):
    journal = tmp_path / "toy.journal"
    whole = polish_on(QuadraticGame(), two_leaves(), "toy", SMALL)
    with pytest.raises(Killed):
        polish_on(
            StoppedGame(QuadraticGame(), at, Killed()), two_leaves(), "toy", SMALL, journal=journal
        )
    answered = at - 1
    assert len(journal.read_text().splitlines()) == 1 + answered
    with journal.open("a") as file:
        file.write('{"elapsed_s": 3.5, "retu')  # a line that the kill has cut off
    rest = QuadraticGame()
    resumed = polish_on(rest, two_leaves(), "toy", SMALL, journal=journal, resume=True)
    assert resumed == dataclasses.replace(whole, elapsed_s=resumed.elapsed_s)
    full = QuadraticGame()
    polish_on(full, two_leaves(), "toy", SMALL)
    assert rest.calls == full.calls - answered  # nothing that was answered is played again


def test_a_run_by_the_clock_repeats_its_decisions(tmp_path):
    journal = tmp_path / "toy.journal"
    config = PolishConfig(minutes=0.02, validation_episodes=20, report_episodes=10)
    first = polish_on(QuadraticGame(), two_leaves(), "toy", config, journal=journal)
    again = polish_on(QuadraticGame(), two_leaves(), "toy", config, journal=journal, resume=True)
    assert again.policy == first.policy
    assert again.generations == first.generations > 3


def test_answers_to_other_questions_are_refused(tmp_path):
    """On another machine eigenvectors have other signs, and the search other candidates."""
    journal = tmp_path / "toy.journal"
    polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, journal=journal)
    head, *answers = journal.read_text().splitlines(keepends=True)
    first, second = map(json.loads, answers[1:3])
    answers[1] = json.dumps({**first, "asked": second["asked"]}) + "\n"
    journal.write_text("".join([head, *answers]))
    with pytest.raises(ConfigError, match="not what this journal answers"):
        polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, journal=journal, resume=True)


def test_the_journal_of_another_run_is_refused(tmp_path):
    journal = tmp_path / "toy.journal"
    with pytest.raises(ConfigError, match="nothing to resume"):
        polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, journal=journal, resume=True)
    polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, journal=journal)
    other = dataclasses.replace(SMALL, seed=3)
    with pytest.raises(ConfigError, match="its seed is 0, and now it is 3"):
        polish_on(QuadraticGame(), two_leaves(), "toy", other, journal=journal, resume=True)
    journal.write_text("not a journal\n")
    with pytest.raises(ConfigError, match="is not the journal of a search"):
        polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, journal=journal, resume=True)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "one of the two"),
        ({"evaluations": 5000, "minutes": 1.0}, "one of the two"),
        ({"minutes": 0.0}, "minutes is 0.0"),
        ({"evaluations": 500}, "expected at least 1000"),
        ({"minutes": 1.0, "objective": "worst"}, "worst-10%"),
        ({"minutes": 1.0, "seed": -1}, "seed is -1"),
        ({"minutes": 1.0, "report_episodes": 1}, "report_episodes is 1"),
        ({"minutes": 1.0, "validation_episodes": 9}, "validation_episodes is 9"),
        ({"evaluations": 99, "validation_episodes": 10}, "expected at least 100"),
    ],
)
def test_wrong_configurations_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        PolishConfig(**wrong)
