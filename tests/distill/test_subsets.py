import numpy as np
import pytest

from icct.distill import subsets
from icct.distill.subsets import best_subset, coefficients, moments
from tests.distill.plain_subsets import plain_best_subset, plain_errors


def table(seed: int = 0, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, columns))
    return x, rng.uniform(0.1, 1, 200)


def by_lstsq(x: np.ndarray, y: np.ndarray, w: np.ndarray, chosen: list[int]) -> float:
    design = np.column_stack((np.ones(len(x)), x[:, chosen])) * np.sqrt(w)[:, None]
    found, *_ = np.linalg.lstsq(design, y * np.sqrt(w))
    return float(((design @ found - y * np.sqrt(w)) ** 2).sum())


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_the_best_subset_is_the_best_of_all(size: int) -> None:
    from itertools import combinations

    x, w = table()
    y = x[:, 1] - 2 * x[:, 4] + 0.5 * x[:, 5] + 0.3 * np.sin(9 * x[:, 0])
    errors = {c: by_lstsq(x, y, w, list(c)) for c in combinations(range(6), size)}
    chosen, error = best_subset(moments(x, y, w), size)
    assert tuple(sorted(chosen.tolist())) == min(errors, key=errors.__getitem__)
    assert error == pytest.approx(min(errors.values()), rel=1e-5)


def test_a_difference_of_two_columns_is_found_where_each_alone_says_nothing() -> None:
    rng = np.random.default_rng(1)
    place = 1000 * rng.normal(size=300)
    x = np.column_stack((rng.normal(size=300), place, place + rng.normal(size=300)))
    x = (x - x.mean(0)) / x.std(0)
    y = 1000 * (x[:, 2] - x[:, 1]) + 0.1 * x[:, 0]
    chosen, _ = best_subset(moments(x, y, np.ones(300)), 2)
    assert sorted(chosen.tolist()) == [1, 2]


def test_many_regressions_at_once_are_each_alone() -> None:
    x, w = table()
    sums = np.stack([moments(x, x[:, k] + x[:, 5], w) for k in range(3)]).reshape(3, 1, 8, 8)
    chosen, error = best_subset(sums, 2)
    assert chosen.shape == (3, 1, 2)
    assert [sorted(c) for c in chosen[:, 0].tolist()] == [[0, 5], [1, 5], [2, 5]]
    assert np.allclose(error, 0, atol=1e-5)
    assert coefficients(sums[1, 0], chosen[1, 0]) == pytest.approx([0, 1, 1], abs=1e-6)


def test_beyond_the_limit_features_are_added_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = table()
    y = x[:, 1] - 2 * x[:, 4] + 0.5 * x[:, 5]
    monkeypatch.setattr(subsets, "MOST_SUBSETS", 6)
    chosen, error = best_subset(moments(x, y, w), 3)
    assert sorted(chosen.tolist()) == [1, 4, 5]
    assert error == pytest.approx(0, abs=1e-5)


def test_constant_columns_do_no_harm() -> None:
    x = np.zeros((50, 3))
    x[:, 2] = np.linspace(-1, 1, 50)
    chosen, error = best_subset(moments(x, 3 * x[:, 2] + 1, np.ones(50)), 2)
    assert 2 in chosen
    assert error == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_it_agrees_with_a_solve_for_every_subset(size: int) -> None:
    rng = np.random.default_rng(size)
    x = rng.normal(size=(500, 9)) @ rng.normal(size=(9, 9))  # correlated
    x = (x - x.mean(0)) / x.std(0)
    sums = np.stack(
        [
            moments(x[k : k + 60], np.sin(3 * x[k : k + 60, k % 9]) + x[k : k + 60, 2], np.ones(60))
            for k in range(0, 440, 4)
        ]
    )
    chosen, error = best_subset(sums, size)
    plain, least = plain_best_subset(sums, size)
    assert (np.sort(chosen, axis=-1) == np.sort(plain, axis=-1)).all()
    assert error == pytest.approx(least, rel=1e-6)


def test_constant_repeated_and_nearly_repeated_columns_are_as_good_as_solved() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(300, 8))
    x[:, 1] = x[:, 0]
    x[:, 2] = 0.7
    x[:, 4] = x[:, 3] + 1e-5 * rng.normal(size=300)
    x[:, 5] = 0.25 + 1e-9 * rng.normal(size=300)
    x[:, 6] *= 1e4
    y = x[:, 0] - 0.5 * x[:, 3] + 0.1 * rng.normal(size=300)
    sums = moments(x, y, rng.uniform(0.01, 1, 300))
    for size in (1, 2, 3, 5):
        chosen, error = best_subset(sums, size)
        assert len(set(chosen.tolist())) == size
        assert np.isfinite(error)
        assert plain_errors(sums, chosen) <= plain_best_subset(sums, size)[1] * (1 + 1e-5)
        assert error == pytest.approx(plain_errors(sums, chosen), rel=1e-5)


def test_regressions_in_many_blocks_are_those_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = table(columns=5)
    sums = np.stack([moments(x[k:], x[k:, 0] * x[k:, 1], w[k:]) for k in range(40)])
    whole = best_subset(sums, 2)
    monkeypatch.setattr(subsets, "BLOCK", 100)
    for one, other in zip(whole, best_subset(sums, 2), strict=True):
        assert (one == other).all()
