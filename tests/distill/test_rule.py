import numpy as np
import pytest

from icct.distill.rule import refined


def design(count: int = 500, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack((np.ones(count), rng.normal(size=(count, 2))))


def error(x: np.ndarray, acted: np.ndarray, rule: np.ndarray) -> float:
    return float(((np.tanh(x @ rule) - acted) ** 2).mean())


def test_an_exact_rule_stays_exact() -> None:
    x, known = design(), np.array([0.3, -1.0, 0.5])
    assert refined(x, np.tanh(x @ known), known) == pytest.approx(known, abs=1e-12)


def test_a_rule_is_found_again_from_afar() -> None:
    x, known = design(), np.array([0.3, -1.0, 0.5])
    acted = np.tanh(x @ known)
    found = refined(x, acted, np.zeros(3))
    assert error(x, acted, found) < 1e-3 * error(x, acted, np.zeros(3))
    assert found == pytest.approx(known, abs=0.1)  # the price of weights draws it to 0


def test_where_actions_are_saturated_it_beats_the_regression_before_the_tanh() -> None:
    x = design(seed=1)
    acted = np.clip(np.tanh(x @ np.array([0.5, 4.0, -3.0])), -0.995, 0.995)
    start = np.linalg.lstsq(x, np.arctanh(acted))[0]
    assert error(x, acted, refined(x, acted, start)) < 0.9 * error(x, acted, start)


def test_weights_of_a_switch_stay_small() -> None:
    x = design(seed=2)
    acted = 0.995 * np.sign(x[:, 1])  # the steeper the better, without end
    found = refined(x, acted, np.array([0.0, 2.0, 0.0]))
    assert 2 < found[1] < 20
    assert error(x, acted, found) < error(x, acted, np.array([0.0, 2.0, 0.0]))


def test_nothing_to_learn_from_a_column_of_zeros() -> None:
    x = design()
    x[:, 2] = 0.0
    found = refined(x, np.full(500, 0.4), np.zeros(3))
    assert np.isfinite(found).all()
    assert np.tanh(found[0]) == pytest.approx(0.4, abs=1e-3)
