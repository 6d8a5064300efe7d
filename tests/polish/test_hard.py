import numpy as np
import pytest

from icct.polish.hard import EPISODES, HARDEST, LATELY, HardEpisodes, with_hard


def noted(returns, candidates=3):
    """Episodes 0, 1, 2, ... with these returns of every candidate."""
    hard = HardEpisodes()
    hard.note(list(range(len(returns))), np.tile(returns, (candidates, 1)))
    return hard


def test_where_returns_vary_as_usual_no_episode_is_hard():
    for seed in range(50):
        returns = np.random.default_rng(seed).normal(200.0, 20.0, LATELY)
        assert noted(returns).again() == []
    assert noted(np.full(LATELY, 5.0)).again() == []
    assert HardEpisodes().again() == []


def test_crashes_are_played_again_in_turns_and_until_they_go_well():
    returns = np.random.default_rng(0).normal(200.0, 20.0, LATELY)
    returns[[7, 30, 31, 80]] = -100.0
    hard = noted(returns)
    played = {seed for _ in range(round(HARDEST * LATELY)) for seed in hard.again()}
    assert {7, 30, 31, 80} <= played
    assert len(played) == round(HARDEST * LATELY)
    hard.note([7, 30, 31, 80], np.full((3, 4), 210.0))
    assert hard.again() == []


def test_what_was_long_ago_is_forgotten():
    returns = np.random.default_rng(0).normal(200.0, 20.0, LATELY)
    returns[:5] = -100.0
    hard = noted(returns)
    assert len(hard.again()) == EPISODES
    hard.note(list(range(LATELY, LATELY + 5)), np.full((3, 5), 200.0))
    assert hard.again() == []


def test_hard_episodes_count_by_their_share():
    scores = np.array([10.0, 20.0])
    assert with_hard(scores, np.empty((2, 0))).tolist() == [10.0, 20.0]
    assert with_hard(scores, np.array([[0.0, 20.0], [-80.0, 0.0]])) == pytest.approx([10.0, 14.0])
