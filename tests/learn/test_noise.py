import torch

from icct.learn.noise import hashed, integers, normal, places, uniform


def draws(seed: int = 0, step: int = 0, stream: int = 0, count: int = 200_000) -> torch.Tensor:
    return hashed(torch.tensor([seed]), torch.tensor(step), stream, places(count))[0]


def test_uniform_and_normal_numbers_have_their_moments() -> None:
    even = uniform(draws())
    assert 0 < even.min() <= even.max() <= 1
    assert abs(even.mean() - 0.5) < 0.005
    assert abs(even.var() - 1 / 12) < 0.002
    bell = normal(draws(stream=1))
    assert abs(bell.mean()) < 0.01
    assert abs(bell.std() - 1) < 0.01
    assert abs((bell**4).mean() - 3) < 0.1
    assert torch.isfinite(bell).all()


def test_integers_cover_their_range_evenly() -> None:
    counts = torch.bincount(integers(draws(), torch.tensor(10)), minlength=10)
    assert len(counts) == 10
    assert (counts - 20_000).abs().max() < 600  # about 4 standard deviations


def test_seeds_steps_and_streams_give_unrelated_numbers() -> None:
    base = normal(draws())
    for other in (draws(seed=1), draws(step=1), draws(stream=1), draws(seed=-1), draws(step=2**40)):
        correlation = torch.corrcoef(torch.stack((base, normal(other))))[0, 1]
        assert abs(correlation) < 0.01
    shifted = torch.corrcoef(torch.stack((base[1:], base[:-1])))[0, 1]
    assert abs(shifted) < 0.01


def test_a_member_draws_the_same_alone_and_among_others() -> None:
    many = hashed(torch.tensor([3, 4, 5]), torch.tensor(7), 2, places(100))
    assert torch.equal(many[1], hashed(torch.tensor([4]), torch.tensor(7), 2, places(100))[0])
    assert torch.equal(many[1, :10], hashed(torch.tensor([4]), torch.tensor(7), 2, places(10))[0])
