import numpy as np
import pytest

from icct.polish.objective import beats, score


def test_scores_of_many_candidates_at_once():
    returns = np.arange(40.0).reshape(2, 20)
    assert score(returns, "mean").tolist() == [9.5, 29.5]
    assert score(returns[:, ::-1], "worst-10%").tolist() == [0.5, 20.5]


@pytest.mark.parametrize("objective", ["mean", "worst-10%"])
def test_equal_policies_rarely_beat_each_other(objective):
    rng = np.random.default_rng(0)
    won = sum(beats(*rng.normal(size=(2, 100)), objective) for _ in range(200))
    assert won <= 14  # of the 5 expected


def test_a_clear_difference_is_seen_although_the_episodes_differ_more():
    rng = np.random.default_rng(0)
    luck = rng.normal(scale=100, size=100)
    theirs, ours = luck + rng.normal(size=100), luck + rng.normal(size=100) + 1
    assert beats(ours, theirs, "mean")
    assert not beats(theirs, ours, "mean")


def test_a_tie_beats_nobody():
    assert not beats([1.0] * 20, [1.0] * 20, "mean")
