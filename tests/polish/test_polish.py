import dataclasses

import numpy as np
import pytest

from icct.errors import ConfigError
from icct.policy import Split
from icct.polish import search
from icct.polish.climb import Climb
from icct.polish.effort import MOST_EPISODES, Effort
from icct.polish.journal import Journal
from icct.polish.polish import PolishConfig, fingerprint, polish_on
from tests.polish.toys import FollowGame, QuadraticGame, StoppedGame, two_leaves

SMALL = PolishConfig(evaluations=4000, validation_episodes=50, report_episodes=20)
NUMBERS_ONLY = dataclasses.replace(SMALL, structure=False)
LONGER = dataclasses.replace(SMALL, evaluations=8000)


def test_a_noisy_quadratic_is_solved():
    game, start = QuadraticGame(), two_leaves()
    result = polish_on(game, start, "toy", NUMBERS_ONLY)
    assert result.improved
    assert game.value(start) < -0.3
    assert game.value(result.policy) > -0.03
    assert result.episodes <= SMALL.evaluations + 500


@pytest.mark.parametrize("engine", ["cmaes", "cmaes-lr", "cmaes-sep"])
def test_other_evolution_strategies_solve_it_too_and_repeat_themselves(engine):
    pytest.importorskip("cmaes")
    game, config = QuadraticGame(), dataclasses.replace(SMALL, engine=engine)
    first, again = (polish_on(game, two_leaves(), "toy", config) for _ in range(2))
    assert game.value(first.policy) > -0.03
    assert first == dataclasses.replace(again, elapsed_s=first.elapsed_s)


@pytest.mark.parametrize(
    ("part", "owner", "name"),
    [
        ("races", search.Search, "_race"),
        ("duels", search.Search, "_duel"),
        ("looks", search.Search, "_look_again"),
        ("flat-restarts", search.Search, "_is_flat"),
        ("rewiring", search, "rewired"),
        ("growing", Effort, "adapt"),
        ("growing", Effort, "enlarge_crowd"),
    ],
)
def test_a_part_that_is_switched_off_is_never_called(monkeypatch, part, owner, name):
    original, calls = getattr(owner, name), []

    def spied(*args):
        calls.append(name)
        return original(*args)

    monkeypatch.setattr(owner, name, spied)
    polish_on(QuadraticGame(), two_leaves(), "toy", dataclasses.replace(SMALL, without=(part,)))
    assert not calls
    polish_on(QuadraticGame(), two_leaves(), "toy", SMALL)
    assert calls


def test_structure_moves_find_the_feature_of_a_split():
    target = two_leaves(split=2, threshold=0.2, below=((), -0.9), above=((), 0.9))
    start = dataclasses.replace(target, nodes=(Split(0, 0.0, 1, 2), *target.nodes[1:]))
    numbers_only = dataclasses.replace(LONGER, structure=False)
    fixed = polish_on(FollowGame(target), start, "toy", numbers_only)
    result = polish_on(FollowGame(target), start, "toy", LONGER)
    assert fixed.policy.nodes[0].feature == 0
    assert result.policy.nodes[0].feature == 2
    assert result.policy.nodes[0].threshold == pytest.approx(0.2, abs=0.1)
    assert "tests c" in " ".join(result.changes)


def test_structure_moves_find_the_feature_of_a_leaf():
    target = two_leaves(below=(((3, 0.9),), 0.0), above=(((1, 0.5),), 0.0))
    start = two_leaves(below=(((2, 0.3),), 0.0), above=(((1, 0.5),), 0.0))
    result = polish_on(FollowGame(target), start, "toy", LONGER)
    (feature, weight), *more = result.policy.nodes[1].controllers[0].weights
    assert feature == 3
    assert weight == pytest.approx(0.9, abs=0.2)
    assert more == []  # as many features as before


def test_a_dead_leaf_is_revived():
    target = two_leaves(split=1, threshold=0.0, below=((), -0.9), above=((), 0.9))
    start = two_leaves(split=0, threshold=-7.0, below=((), 0.0), above=((), 0.9))
    result = polish_on(FollowGame(target), start, "toy", SMALL)
    assert result.policy.nodes[0].feature == 1
    assert sum(result.report.result) > sum(result.report.start) / 4


@pytest.mark.parametrize(
    ("evaluations", "without", "climbs"),
    [(4000, (), 1), (40_000, (), 3), (40_000, ("heats",), 1)],
)
def test_several_climbs_begin_where_the_budget_affords_it_and_the_highest_goes_on(
    monkeypatch, evaluations, without, climbs
):
    climbed, heights = [], iter([1.0, 3.0, 2.0, 2.5, 3.5, 0.0])

    def climb_for(self, ascent, share):
        climbed.append(ascent)
        ascent.peak = search.Champion(start, [next(heights)] * 2)
        return ascent

    monkeypatch.setattr(search.Search, "_climbed", climb_for)
    start = two_leaves()
    config = dataclasses.replace(SMALL, evaluations=evaluations, without=without)
    search.Search(start, Journal(QuadraticGame(), None, {}, resume=False), config).run()
    if climbs == 1:
        [_] = climbed
    else:
        first, second, third, *later = climbed
        assert later == [second, third, third]
        assert first not in later


@pytest.mark.parametrize(("patience", "gives_way"), [(10, True), (10_000, False)])
def test_a_climb_on_a_plateau_gives_way_to_others(monkeypatch, patience, gives_way):
    class Plateau(QuadraticGame):
        """Nothing makes a difference; it counts who looks at the start."""

        looks = 0

        def value(self, policy):
            return 1.0

        def observations(self, policy, seeds):
            self.looks += policy is start
            return super().observations(policy, seeds)

    monkeypatch.setattr(search, "FLAT_GENERATIONS", patience)
    game, start = Plateau(noise=0.0), two_leaves()
    result = polish_on(game, start, "toy", NUMBERS_ONLY)
    assert result.policy is start
    assert (game.looks > 1) == gives_way


def test_a_leader_that_beats_the_favourite_takes_its_place():
    game, start = QuadraticGame(noise=0.001), two_leaves()
    run = search.Search(start, Journal(game, None, {}, resume=False), NUMBERS_ONLY)
    climb = Climb(start, game.observations(start, [0]), np.random.default_rng(1), step=0.45)
    climb.tell([game.value(policy) for policy in climb.ask()])
    assert game.value(climb.leader) > game.value(climb.favourite)
    ascent = search.Ascent(climb, Effort("mean"))
    run._duel(ascent)
    assert ascent.climb.favourite == climb.leader
    moved = ascent.climb
    run._duel(ascent)
    assert ascent.climb is moved  # it leads and is the favourite


def test_the_numbers_of_a_leaf_that_came_to_life_are_searched_too():
    game, policy = QuadraticGame(), two_leaves()
    seen = game.observations(policy, [0])
    split = policy.nodes[0]
    one_side = seen[seen[:, split.feature] > split.threshold]
    run = search.Search(policy, Journal(game, None, {}, resume=False), NUMBERS_ONLY)
    ascent = search.Ascent(Climb(policy, one_side, np.random.default_rng(0)), Effort("mean"))
    before = ascent.climb.dimension
    run._look_again(ascent)
    assert ascent.climb.favourite == policy
    assert ascent.climb.dimension > before


@pytest.mark.parametrize("without", [(), ("back-to-peak",)])
def test_a_climb_that_has_come_down_goes_back_to_its_peak(without):
    game, high = QuadraticGame(noise=0.001), two_leaves()
    low = two_leaves(below=((), 0.9))
    config = dataclasses.replace(NUMBERS_ONLY, without=without)
    run = search.Search(high, Journal(game, None, {}, resume=False), config)
    at_high, at_low = (
        Climb(policy, game.observations(policy, [0]), np.random.default_rng(0))
        for policy in (high, low)
    )
    ascent = search.Ascent(at_high, Effort("mean"))
    run._check(ascent)
    assert ascent.climb is at_high
    ascent.climb = at_low
    ascent.effort.episodes = MOST_EPISODES["mean"]
    run._check(ascent)
    assert (ascent.climb.favourite == high) == (not without)
    assert ascent.effort.crowd > 1.0


@pytest.mark.parametrize(("gain", "stages"), [(-1.0, 1), (1.0, 3)])
def test_a_race_that_nobody_leads_ends_early_and_the_next_has_more(gain, stages):
    class Ranked(QuadraticGame):
        """Whatever differs from the start gains the same."""

        asked = 0

        def returns(self, questions):
            self.asked += 1
            return [[gain * (policy != start)] * len(seeds) for policy, seeds in questions]

    game, start = Ranked(), two_leaves()
    memory = Journal(game, None, {}, resume=False)
    run = search.Search(start, memory, SMALL)
    ascent = run._from_start(0.15)
    ascent.owed = owed = float(ascent.race_cost)
    before, game.asked = memory.episodes, 0
    run._race(ascent)
    assert game.asked == stages
    assert run.status.moves == (gain > 0)
    if stages < 3:
        assert ascent.owed == owed - (memory.episodes - before) > owed / 2


def test_the_last_generation_is_checked_once(monkeypatch):
    checked = []

    def check(self, ascent):
        checked.append(ascent.generation)
        check_as_ever(self, ascent)

    check_as_ever = search.Search._check
    monkeypatch.setattr(search.Search, "_check", check)
    run = search.Search(two_leaves(), Journal(QuadraticGame(), None, {}, resume=False), SMALL)
    ascent = run._climbed(run._from_start(0.15), 1.0)
    assert checked[-1] == ascent.generation
    assert run._climbed(ascent, 0.0) is ascent  # a heat in which no generation has room
    assert checked == sorted(set(checked))


def test_progress_is_the_share_of_the_budget_that_was_played():
    shares = []

    def note(status):
        shares.append((status.fraction, status.episodes / SMALL.evaluations))

    polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, progress=note)
    assert all(share == pytest.approx(played) for share, played in shares)
    assert shares[0][0] < 0.1 < 0.8 < shares[-1][0] < 1.0


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
    assert len(result.policy.leaves) == 2


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
            dataclasses.replace(NUMBERS_ONLY, objective=objective),
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


def test_the_journal_of_another_run_is_refused(tmp_path):
    journal = tmp_path / "toy.journal"
    with pytest.raises(ConfigError, match="nothing to resume"):
        polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, journal=journal, resume=True)
    polish_on(QuadraticGame(), two_leaves(), "toy", SMALL, journal=journal)
    other = dataclasses.replace(SMALL, seed=3)
    with pytest.raises(ConfigError, match="its seed is 0, and now it is 3"):
        polish_on(QuadraticGame(), two_leaves(), "toy", other, journal=journal, resume=True)
    journal.write_text("not a journal\n")
    with pytest.raises(ConfigError, match="is not the journal of a polishing run"):
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
        ({"minutes": 1.0, "without": ("heat",)}, "Did you mean 'heats'"),
        ({"minutes": 1.0, "engine": "cmaes-rl"}, "Did you mean 'cmaes-lr'"),
    ],
)
def test_wrong_configurations_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        PolishConfig(**wrong)
