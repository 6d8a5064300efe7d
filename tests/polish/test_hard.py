import numpy as np
import pytest

from icct.polish import PolishConfig, search
from icct.polish.hard import EPISODES, HARDEST, LATELY, HardEpisodes, with_hard
from icct.polish.journal import Journal
from tests.polish.toys import QuadraticGame, two_leaves


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


class RareGame(QuadraticGame):
    """Threshold and upper rule matter always; the lower rule in one episode of twenty, and much."""

    def value(self, policy):
        split, _, above = policy.nodes
        return -((split.threshold - 0.3) ** 2) - (above.controllers[0].bias - 0.1) ** 2

    def returns(self, questions):
        table = super().returns(questions)
        for (policy, seeds), returns in zip(questions, table, strict=True):
            for number, seed in enumerate(seeds):
                if np.random.default_rng((seed, 1)).random() < 0.05:
                    returns[number] -= 40 * (policy.nodes[1].controllers[0].bias + 0.8) ** 2
        return table


def test_what_counts_in_rare_episodes_is_found(monkeypatch):
    def distance(seed):
        """Return how far the lower rule is from its best when the search has ended."""
        config = PolishConfig(
            evaluations=3000, validation_episodes=20, report_episodes=0, seed=seed
        )
        run = search.Search(two_leaves(), Journal(RareGame(), None, {}, resume=False), config)
        run.run()
        return abs(run._distribution.mean.nodes[1].controllers[0].bias + 0.8)

    found = np.median([distance(seed) for seed in range(5)])
    monkeypatch.setattr(HardEpisodes, "again", lambda self: [])
    assert found < 0.1 < np.median([distance(seed) for seed in range(5)])
