import numpy as np
import pytest

from icct.polish.effort import FEWEST_EPISODES, LARGEST_POPULATION, MOST_EPISODES, Effort


def generation(effort, merit, noise, rng):
    """Return the returns of a generation whose candidates differ by so much."""
    candidates = round(15 * effort.population)
    own = merit * rng.normal(size=(candidates, 1))
    return own + noise * rng.normal(size=(candidates, effort.episodes))


@pytest.mark.parametrize("objective", ["mean", "worst-10%"])
def test_noise_asks_for_episodes(objective):
    effort, rng = Effort(objective), np.random.default_rng(0)
    assert (effort.episodes, effort.population) == (FEWEST_EPISODES[objective], 1.0)
    for _ in range(200):
        effort.adapt(generation(effort, 0.0, 1.0, rng))
    assert (effort.episodes, effort.population) == (MOST_EPISODES[objective], 1.0)


@pytest.mark.parametrize("objective", ["mean", "worst-10%"])
def test_populations_grow_where_the_most_episodes_are_not_enough(objective):
    effort = Effort(objective)
    effort.enlarge_population()
    assert effort.population == 1.0
    effort.episodes = MOST_EPISODES[objective]
    effort.enlarge_population()
    assert 1.0 < effort.population < LARGEST_POPULATION
    for _ in range(20):
        effort.enlarge_population()
    assert effort.population == LARGEST_POPULATION


def test_where_candidates_clearly_differ_few_episodes_are_enough():
    effort, rng = Effort("mean"), np.random.default_rng(0)
    effort.episodes, effort.population = MOST_EPISODES["mean"], LARGEST_POPULATION
    for _ in range(30):
        effort.adapt(generation(effort, 1.0, 0.1, rng))
    assert (effort.episodes, effort.population) == (FEWEST_EPISODES["mean"], 1.0)


def test_a_plateau_asks_for_nothing():
    effort = Effort("mean")
    for _ in range(30):
        effort.adapt(np.ones((15, 2)))
    assert (effort.episodes, effort.population) == (FEWEST_EPISODES["mean"], 1.0)
