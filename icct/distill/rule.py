"""Weights of one rule → weights with a smaller error after the tanh: Gauss-Newton steps.

Regressions before the tanh choose the features and begin well, but an action near its limits has
no exact place there; what counts is the error of the action.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 10
ENOUGH = 1e-5  # part of the error that a step must take away for another one
RIDGE = 1e-3  # mean squared error that a squared weight of 1 must be worth: weights stay small,
RIDGE_SHARE = 0.05  # but no more than this part of the error: an exact rule stays exact


def refined(design: Floats, acted: Floats, start: Floats) -> Floats:
    """Return coefficients with a smaller squared error of tanh(design @ coefficients).

    Args:
        design: A column of ones and standardised features, (n, 1 + features).
        acted: The actions to imitate, inside -1 to 1, (n,).
        start: Where to begin, (1 + features,).
    """
    count, found = len(design), start
    ridge = np.zeros((len(start), len(start)))
    price = min(RIDGE * count, RIDGE_SHARE * _error(design, acted, start, ridge))
    ridge[1:, 1:] = price * np.eye(len(start) - 1)
    damping = 1e-3 * count
    error = _error(design, acted, found, ridge)
    for _ in range(STEPS):
        value = np.tanh(design @ found)
        slopes = design * (1 - value**2)[:, None]
        curvature = slopes.T @ slopes + ridge
        downhill = slopes.T @ (acted - value) - ridge @ found
        while True:
            step = np.linalg.solve(curvature + damping * np.eye(len(start)), downhill)
            now = _error(design, acted, found + step, ridge)
            if now < error or damping > 1e6 * count:
                break
            damping *= 10
        if not now < error:
            break
        gained, found, error = error - now, found + step, now
        damping = max(damping / 10, 1e-9 * count)
        if gained < ENOUGH * error:
            break
    return found


def _error(design: Floats, acted: Floats, rule: Floats, ridge: Floats) -> float:
    missed = np.tanh(design @ rule) - acted
    return float(missed @ missed + rule @ ridge @ rule)
