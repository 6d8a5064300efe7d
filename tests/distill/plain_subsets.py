"""Best subsets by solving every one of them: slow, and what the fast way must agree with."""

from itertools import combinations

import numpy as np

RIDGE = 1e-9


def plain_best_subset(sums: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what `best_subset` returns, by one solve for each subset of each regression."""
    count = sums.shape[-1] - 2
    subsets = np.array(list(combinations(range(count), size)), dtype=np.intp)
    subsets = np.broadcast_to(subsets, (*sums.shape[:-2], *subsets.shape))
    error = plain_errors(sums[..., None, :, :], subsets)
    best = error.argmin(-1)[..., None]
    chosen = np.take_along_axis(subsets, best[..., None], axis=-2)[..., 0, :]
    return chosen, np.take_along_axis(error, best, axis=-1)[..., 0]


def plain_errors(sums: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the squared errors of the regressions on columns (..., size)."""
    constant = np.zeros((*columns.shape[:-1], 1), dtype=np.intp)
    used = np.concatenate((constant, columns + 1), axis=-1)
    sums = np.broadcast_to(sums, (*used.shape[:-1], *sums.shape[-2:]))
    rows = np.take_along_axis(sums, used[..., None], axis=-2)
    gram = np.take_along_axis(rows, used[..., None, :], axis=-1)
    with_target = rows[..., -1]
    gram = gram + RIDGE * (1 + sums[..., :1, :1]) * np.eye(gram.shape[-1])
    solved = np.linalg.solve(gram, with_target[..., None])[..., 0]
    explained = 2 * (solved * with_target).sum(-1)
    explained -= np.einsum("...i,...ij,...j->...", solved, gram, solved)
    return np.maximum(sums[..., -1, -1] - explained, 0.0)
