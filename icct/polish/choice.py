"""The final choice: who is to play the start, and does it truly beat it? On fresh episodes.

First some finalists play a batch among themselves. Then the best of them plays the start in a
paired test, in batches of other episodes. Clear cases end after one batch. Near the top, where a
small difference is left, more batches are played. The last one decides as a single test would;
those before end it only when all but certain, so that an equal rival passes in about 4 % of the
runs, not in the 6 % of four such tests.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from icct.polish.objective import Objective, score

RESAMPLES = 2000
# The share of bootstrap resamples in which the rival is ahead.
CERTAIN, CERTAIN_EARLY = 0.975, 0.99  # it is better: after the last batch, after those before
HOPELESS = 0.2  # below, more episodes cannot be expected to help


class ChoicePlan(NamedTuple):
    """How much is played before one is chosen."""

    finalists: int  # the best by the checks; a single one need not qualify
    batches: int  # of the test, at most

    @property
    def batches_played(self) -> int:
        """How many batches all of them play at most, those of each one counted."""
        return 2 * self.batches + (self.finalists if self.finalists > 1 else 0)


# The most thorough first; a budget takes the first that it affords.
CHOICE_PLANS = tuple(ChoicePlan(*plan) for plan in ((3, 4), (1, 4), (1, 3), (1, 2), (1, 1)))

# (first number, count) -> the returns of the start and of its rival in these episodes.
Play = Callable[[int, int], Sequence[Sequence[float]]]


def rival_wins(
    play: Play, batch: int, batches: int, objective: Objective
) -> tuple[bool, list[float], list[float]]:
    """Return whether the rival is better beyond noise, and all returns of the start and of it."""
    start, rival = list[float](), list[float]()
    for number in range(batches):
        ours, theirs = play(number * batch, batch)
        start += ours
        rival += theirs
        ahead = share_ahead(rival, start, objective)
        last = number == batches - 1
        if ahead < HOPELESS or ahead >= CERTAIN_EARLY or last:
            break
    return ahead >= (CERTAIN if last else CERTAIN_EARLY), start, rival


def best_of(returns: Sequence[Sequence[float]], objective: Objective) -> int:
    """Return which of some policies scores highest in the same episodes."""
    return int(score(returns, objective).argmax())


def share_ahead(ours: Sequence[float], theirs: Sequence[float], objective: Objective) -> float:
    """Return in which share of resampled episodes the first scores higher: a paired bootstrap."""
    both = np.array([ours, theirs])
    rng = np.random.default_rng(both.shape[1])
    drawn = rng.integers(both.shape[1], size=(RESAMPLES, both.shape[1]))
    ahead = score(both[0][drawn], objective) > score(both[1][drawn], objective)
    return float(ahead.mean())
