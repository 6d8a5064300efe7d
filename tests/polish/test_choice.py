import numpy as np
import pytest

from icct.polish.choice import CHOICE_PLANS, rival_wins, share_ahead
from tests.polish.toys import QuadraticGame, two_leaves

BATCH, RUNS = 25, 150
BATCHES = max(plan.batches for plan in CHOICE_PLANS)
START = two_leaves(below=((), -0.5))
# Better by 0.05 where two policies differ by 0.21 in an episode: 1.2 standard errors of a batch.
LITTLE_BETTER = two_leaves(below=((), -0.6))
EQUAL = two_leaves(below=((), -1.1))  # as far from the best on the other side


def wins(rival, batches, noise=0.15):
    """Return how often a rival is taken, and the batches played in each run."""
    game, taken, played = QuadraticGame(noise), 0, []
    for run in range(RUNS):

        def play(first, count, run=run):
            seeds = [100_000 * run + first + n for n in range(count)]
            return game.returns([(START, seeds), (rival, seeds)])

        won, start, theirs = rival_wins(play, BATCH, batches, "mean")
        taken += won
        played.append(len(start) / BATCH)
        assert len(start) == len(theirs)
    return taken / RUNS, played


def test_a_rival_that_is_a_little_better_is_found_in_several_batches():
    assert QuadraticGame().value(LITTLE_BETTER) - QuadraticGame().value(START) == pytest.approx(
        0.05
    )
    once, _ = wins(LITTLE_BETTER, batches=1)
    found, played = wins(LITTLE_BETTER, batches=BATCHES)
    assert once < 0.35
    assert found > 0.5
    assert set(played) == {1, 2, 3, 4}


def test_an_equal_rival_is_rarely_taken():
    assert QuadraticGame().value(EQUAL) == pytest.approx(QuadraticGame().value(START))
    taken, _ = wins(EQUAL, batches=BATCHES)
    assert 0 < taken < 0.07  # 4 % are expected


def test_clear_cases_are_decided_in_one_batch():
    best = two_leaves(below=((), -0.8))
    for rival, expected in ((best, 1.0), (two_leaves(below=((), 0.0)), 0.0)):
        taken, played = wins(rival, batches=BATCHES, noise=0.05)
        assert taken == expected
        assert set(played) == {1}


def test_a_clear_difference_is_seen_although_the_episodes_differ_more():
    rng = np.random.default_rng(0)
    luck = rng.normal(scale=100, size=100)
    theirs, ours = luck + rng.normal(size=100), luck + rng.normal(size=100) + 1
    assert share_ahead(ours, theirs, "mean") > 0.99
    assert share_ahead(theirs, ours, "mean") < 0.01


def test_a_tie_is_won_by_nobody():
    assert share_ahead([1.0] * 20, [1.0] * 20, "mean") == 0.0
