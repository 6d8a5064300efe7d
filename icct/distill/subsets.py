"""Least squares with at most e features: the best subset, for many regressions at once.

Works on moments (sums of products) instead of rows, so that the two sides of a thousand possible
splits cost no more than their few numbers. One and two columns have closed forms, for all pairs at
once; a third and more are taken out of the moments first, which leaves a smaller such problem.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = NDArray[np.intp]

MOST_SUBSETS = 5000  # all are tried; beyond, features are added to the best smaller subset
BLOCK = 65_536  # numbers worked on at a time: they stay in the cache
RIDGE = 1e-9  # beside columns of unit variance; constant and repeated columns do no harm


def moments(columns: Floats, target: Floats, weights: Floats) -> Floats:
    """Return the weighted sums of products of (1, columns, target), (m + 2, m + 2)."""
    table = np.column_stack((np.ones(len(columns)), columns, target))
    products: Floats = (table * weights[:, None]).T @ table
    return products


def best_subset(sums: Floats, size: int) -> tuple[Columns, Floats]:
    """Return the best `size` columns of each regression and the squared error they leave.

    Args:
        sums: What `moments` returns, for any number of regressions, (..., m + 2, m + 2).
        size: How many columns besides the constant.

    Returns:
        Column indexes (..., size), rising unless they were added one by one, and errors (...).
    """
    lead, count = sums.shape[:-2], sums.shape[-1] - 2
    start = max(k for k in range(size + 1) if comb(count, k) <= MOST_SUBSETS)
    every = sums.reshape(-1, count + 2, count + 2)
    columns, errors = np.empty((len(every), size), dtype=np.intp), np.empty(len(every))
    block = max(1, BLOCK // (count + 2) ** 2)
    for place in range(0, len(every), block):
        here = slice(place, place + block)
        table = _centred(every[here])
        chosen, gain = _best_of_all(table, start)
        if start < size:
            chosen, gain = _added(table, chosen, gain, size)
        columns[here], errors[here] = chosen, np.maximum(table[..., -1, -1] - gain, 0.0)
    return columns.reshape(*lead, size), errors.reshape(lead)


def coefficients(sums: Floats, columns: Columns) -> Floats:
    """Return (constant, slopes...) of one regression on some columns, (1 + columns,)."""
    used = np.concatenate(([0], columns + 1))
    gram = sums[np.ix_(used, used)]
    gram = gram + RIDGE * (1 + sums[0, 0]) * np.eye(len(used))
    return np.asarray(np.linalg.solve(gram, sums[used, -1]), np.float64)


def _centred(sums: Floats) -> Floats:
    """Return the moments of (columns, target) about their means, with the ridge."""
    total, first = sums[..., 0, 0], sums[..., 0, 1:]
    table = sums[..., 1:, 1:] - first[..., :, None] * (first / total[..., None])[..., None, :]
    columns = np.arange(table.shape[-1] - 1)
    ridge = RIDGE * (1 + total)[..., None]
    scale = np.maximum(table[..., columns, columns], 0.0)
    # In parts of the column itself too: no pair is ever closer than rounding can tell.
    table[..., columns, columns] = scale * (1 + RIDGE) + ridge
    return table


def _best_of_all(table: Floats, size: int) -> tuple[Columns, Floats]:
    """Return the best subset of `size` columns (..., size) and the error it takes away (...)."""
    if size == 0:
        lead = table.shape[:-2]
        return np.zeros((*lead, 0), dtype=np.intp), np.zeros(lead)
    if size == 1:
        gains = _single_gains(table)
        best = gains.argmax(-1)[..., None]
        return best, np.take_along_axis(gains, best, axis=-1)[..., 0]
    if size == 2:
        return _best_pair(table)
    chosen = gain = None
    for first in range(table.shape[-1] - size):
        rest = _without(table[..., first:, first:], 0)[..., 1:, 1:]
        others, more = _best_of_all(rest, size - 1)
        more = more + _single_gains(table[..., first:, first:])[..., 0]
        found = np.concatenate((np.zeros_like(others[..., :1]), others + 1), axis=-1) + first
        if chosen is None or gain is None:
            chosen, gain = found, more
        else:
            better = more > gain
            chosen = np.where(better[..., None], found, chosen)
            gain = np.where(better, more, gain)
    assert chosen is not None  # there are at least `size` columns
    assert gain is not None
    return chosen, gain


def _single_gains(table: Floats) -> Floats:
    """Return what each column alone takes away, (..., m)."""
    scale = np.diagonal(table, axis1=-2, axis2=-1)[..., :-1]
    return np.asarray(table[..., :-1, -1] ** 2 / scale, np.float64)


def _best_pair(table: Floats) -> tuple[Columns, Floats]:
    """Return the best two columns and the error they take away, from correlations."""
    count = table.shape[-1] - 1
    root = 1 / np.sqrt(np.diagonal(table, axis1=-2, axis2=-1)[..., :-1])
    target = table[..., :-1, -1] * root
    between = table[..., :-1, :-1] * root[..., :, None]
    between *= root[..., None, :]
    gains = target[..., :, None] * target[..., None, :]
    gains *= between
    gains *= -2
    gains += (target**2)[..., :, None]
    gains += (target**2)[..., None, :]
    between *= between
    np.subtract(1, between, out=between)
    np.maximum(between, RIDGE, out=between)
    gains /= between
    diagonal = np.arange(count)
    gains[..., diagonal, diagonal] = -1.0  # a column beside itself is no pair
    flat = gains.reshape(*gains.shape[:-2], count * count)
    best = flat.argmax(-1)[..., None]
    chosen = np.concatenate((best // count, best % count), axis=-1)
    return chosen, np.take_along_axis(flat, best, axis=-1)[..., 0]


def _added(table: Floats, chosen: Columns, gain: Floats, size: int) -> tuple[Columns, Floats]:
    """Return the chosen columns with the best others after them, added one by one."""
    rest = table
    for place in range(size):
        if place >= chosen.shape[-1]:
            gains = _single_gains(rest)
            np.put_along_axis(gains, chosen, -1.0, axis=-1)
            best = gains.argmax(-1)[..., None]
            chosen = np.concatenate((chosen, best), axis=-1)
            gain = gain + np.take_along_axis(gains, best, axis=-1)[..., 0]
        rest = _without(rest, chosen[..., place])
    return chosen, gain


def _without(table: Floats, column: int | Columns) -> Floats:
    """Return the moments of what a column, one for each regression, cannot explain."""
    index = np.broadcast_to(np.asarray(column), table.shape[:-2])[..., None, None]
    row = np.take_along_axis(table, index, axis=-2)
    scale = np.take_along_axis(row, index, axis=-1)
    rest = table - np.swapaxes(row, -1, -2) * (row / scale)
    columns = np.arange(table.shape[-1] - 1)
    least = RIDGE * table[..., columns, columns]
    rest[..., columns, columns] = np.maximum(rest[..., columns, columns], least)
    return rest
