import numpy as np
import pytest

from icct.polish.effort import FEWEST_EPISODES, MOST_CROWD, MOST_EPISODES, Effort


def generation(effort, merit, noise, rng):
    """Return the returns of a generation whose candidates differ by so much."""
    candidates = round(15 * effort.crowd)
    own = merit * rng.normal(size=(candidates, 1))
    return own + noise * rng.normal(size=(candidates, effort.episodes))


@pytest.mark.parametrize("objective", ["mean", "worst-10%"])
def test_noise_asks_for_episodes_first_and_then_for_crowds(objective):
    effort, rng = Effort(objective), np.random.default_rng(0)
    assert (effort.episodes, effort.crowd) == (FEWEST_EPISODES[objective], 1.0)
    while effort.crowd == 1.0:
        most = effort.episodes
        effort.adapt(generation(effort, 0.0, 1.0, rng))
    assert most == MOST_EPISODES[objective]
    for _ in range(200):
        effort.adapt(generation(effort, 0.0, 1.0, rng))
    assert effort.crowd == MOST_CROWD


def test_where_candidates_clearly_differ_few_episodes_are_enough():
    effort, rng = Effort("mean"), np.random.default_rng(0)
    effort.episodes, effort.crowd = MOST_EPISODES["mean"], MOST_CROWD
    for _ in range(30):
        effort.adapt(generation(effort, 1.0, 0.1, rng))
    assert (effort.episodes, effort.crowd) == (FEWEST_EPISODES["mean"], 1.0)


def test_a_plateau_asks_for_nothing():
    effort = Effort("mean")
    for _ in range(30):
        effort.adapt(np.ones((15, 2)))
    assert (effort.episodes, effort.crowd) == (FEWEST_EPISODES["mean"], 1.0)
