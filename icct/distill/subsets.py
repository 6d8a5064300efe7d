"""Least squares with at most e features: the best subset, for many regressions at once.

Works on moments (sums of products) instead of rows, so that the two sides of a thousand possible
splits cost no more than their few numbers.
"""

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_SUBSETS = 1000  # tried one by one; beyond, features are added to the best smaller subset
RIDGE = 1e-9  # beside columns of unit variance; constant and repeated columns do no harm


def moments(columns: Floats, target: Floats, weights: Floats) -> Floats:
    """Return the weighted sums of products of (1, columns, target), (m + 2, m + 2)."""
    table = np.column_stack((np.ones(len(columns)), columns, target))
    products: Floats = (table * weights[:, None]).T @ table
    return products


def best_subset(sums: Floats, size: int) -> tuple[NDArray[np.intp], Floats]:
    """Return the best `size` columns of each regression and the squared error they leave.

    Args:
        sums: What `moments` returns, for any number of regressions, (..., m + 2, m + 2).
        size: How many columns besides the constant.

    Returns:
        Column indexes (..., size), and errors (...).
    """
    count = sums.shape[-1] - 2
    start = max(k for k in range(size + 1) if comb(count, k) <= MOST_SUBSETS)
    subsets = np.array(list(combinations(range(count), start)), dtype=np.intp)
    subsets = np.broadcast_to(subsets, (*sums.shape[:-2], *subsets.shape))
    chosen, error = _best_of(sums, subsets)
    for _ in range(size - start):
        grown = np.concatenate(
            (
                np.repeat(chosen[..., None, :], count, axis=-2),
                np.broadcast_to(np.arange(count), (*chosen.shape[:-1], count))[..., None],
            ),
            axis=-1,
        )
        chosen, error = _best_of(sums, grown)  # a column taken twice gains nothing, by the ridge
    return chosen, error


def coefficients(sums: Floats, columns: NDArray[np.intp]) -> Floats:
    """Return (constant, slopes...) of the regression on some columns, (..., 1 + columns)."""
    return _solved(sums, columns)[0]


def _best_of(sums: Floats, subsets: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
    """Return the best of the subsets (..., k, size) of each regression, and its error."""
    error = _solved(sums[..., None, :, :], subsets)[1]
    best = error.argmin(-1)[..., None]
    chosen = np.take_along_axis(subsets, best[..., None], axis=-2)[..., 0, :]
    return chosen, np.take_along_axis(error, best, axis=-1)[..., 0]


def _solved(sums: Floats, columns: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return coefficients and squared errors of the regressions on columns (..., size)."""
    constant = np.zeros((*columns.shape[:-1], 1), dtype=np.intp)
    used = np.concatenate((constant, columns + 1), axis=-1)
    lead = np.broadcast_shapes(sums.shape[:-2], used.shape[:-1])
    sums = np.broadcast_to(sums, (*lead, *sums.shape[-2:]))
    used = np.broadcast_to(used, (*lead, used.shape[-1]))
    rows = np.take_along_axis(sums, used[..., None], axis=-2)
    gram = np.take_along_axis(rows, used[..., None, :], axis=-1)
    with_target = rows[..., -1]
    gram = gram + RIDGE * (1 + sums[..., :1, :1]) * np.eye(gram.shape[-1])
    solved = np.asarray(np.linalg.solve(gram, with_target[..., None])[..., 0], np.float64)
    explained = 2 * (solved * with_target).sum(-1) - np.einsum(
        "...i,...ij,...j->...", solved, gram, solved
    )
    return solved, np.maximum(sums[..., -1, -1] - explained, 0.0)
