import numpy as np
import pytest

from icct.polish.climb import SearchDistribution
from tests.polish.toys import two_leaves


def distribution(policy):
    seen = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    return SearchDistribution(policy, seen, np.random.default_rng(1))


def test_a_plateau_makes_the_steps_larger():
    made = distribution(policy := two_leaves())
    before = np.diag(made.covariance).max()
    made.tell([3.0] * len(made.ask()))
    assert np.diag(made.covariance).max() > before
    made.tell([-np.inf] * len(made.ask()))
    assert made.mean == policy


def test_what_matters_converges_and_the_mean_goes_there():
    made = distribution(two_leaves())
    for _ in range(60):
        made.tell([-((p.nodes[2].controllers[0].bias - 0.2) ** 2) for p in made.ask()])
    assert made.mean.nodes[2].controllers[0].bias == pytest.approx(0.2, abs=0.05)
    assert np.diag(made.covariance).min() < 0.05**2
    assert not made.converged  # the other numbers do nothing


def test_another_population_goes_on_from_where_it_was():
    made = distribution(two_leaves(below=(((1, 0.5),), 0.0)))
    for _ in range(20):
        made.tell([-(p.nodes[2].controllers[0].bias ** 2) for p in made.ask()])
    few, covariance, mean = len(made.ask()), made.covariance, made.mean
    made.resize(2.0)
    assert len(made.ask()) == pytest.approx(2 * few, abs=1)
    assert np.allclose(made.covariance, covariance, rtol=1e-3, atol=1e-7)
    for was, now in zip(mean.nodes[1:], made.mean.nodes[1:], strict=True):
        assert now.controllers[0].bias == pytest.approx(was.controllers[0].bias, abs=1e-9)
