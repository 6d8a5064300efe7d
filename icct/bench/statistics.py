"""Returns of several seeds → mean and standard error, interquartile mean and its interval.

Resampling is done by `arch`. With five seeds an interval is rough: it can only be as wide as the
seeds lie apart.
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import mean, stdev

import numpy as np
from numpy.typing import NDArray

from icct.errors import MissingExtraError

RESAMPLES = 2000
LEVEL = 0.95


def mean_and_error(values: Sequence[float]) -> str:
    """Return mean and standard error over seeds as text.

    >>> mean_and_error([1.0, 2.0, 3.0])
    '2.0 ± 0.6'
    """
    if len(values) < 2:
        return f"{values[0]:.1f}"
    return f"{mean(values):.1f} ± {stdev(values) / math.sqrt(len(values)):.1f}"


def interquartile_mean(values: NDArray[np.float64]) -> float:
    """Return the mean of the middle half: a quarter of the numbers is left out at either end.

    Numbers at the quartiles count by the part of them that lies inside.

    >>> interquartile_mean(np.array([0.0, 1.0, 2.0, 3.0, 100.0]))
    2.0
    """
    ordered, count = np.sort(values), len(values)
    edges = np.arange(count + 1)
    inside = np.clip(edges, count / 4, 3 * count / 4)
    return float(ordered @ np.diff(inside) / (count / 2))


@cache
def _interval(values: tuple[float, ...]) -> tuple[float, float]:
    """Return the interval of the interquartile mean by the percentiles of its resamples."""
    try:
        from arch.bootstrap import IIDBootstrap
    except ImportError:
        raise MissingExtraError(
            'Bootstrap intervals need arch. Install it with: pip install "icct[bench]"'
        ) from None
    resampled = IIDBootstrap(np.array(values), seed=np.random.default_rng(0))
    low, high = resampled.conf_int(
        lambda drawn: np.atleast_1d(interquartile_mean(drawn)),
        reps=RESAMPLES,
        method="percentile",
        size=LEVEL,
    ).ravel()
    return float(low), float(high)


def middle_and_interval(values: Sequence[float]) -> str:
    """Return the interquartile mean over seeds with its bootstrap interval as text."""
    middle = interquartile_mean(np.array(values, dtype=np.float64))
    if len(values) < 2:
        return f"{middle:.1f}"
    low, high = _interval(tuple(float(value) for value in values))
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"
