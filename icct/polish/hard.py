"""Episodes that went badly lately, which generations of the search play again.

Candidates are ranked within a generation, on a few episodes. Where one episode in twenty is a crash
that costs more than everything else can gain, most generations meet none and rank by what is left;
those that meet one count no more than the others. So the rank follows the usual episode, and the
mean suffers. Playing hard episodes again, at about their share, lets every generation see both.
"""

import numpy as np
from numpy.typing import NDArray

from icct.polish.game import Table

LATELY = 100  # episodes that are remembered
HARDEST = 0.1  # the share of them that may be hard, and what they count in a score
EPISODES = 2  # hard ones that each candidate plays in a generation
# Hard ones lie further below the median than the usual episode varies, by this factor; the worst
# tenth of normal returns lies 1.75 below.
FAR_BELOW = 3.0
NORMAL = 1.4826  # a standard deviation, in median absolute deviations of normal returns


class HardEpisodes:
    """The episodes of the last generations by how their candidates did."""

    def __init__(self) -> None:
        self._means: dict[int, float] = {}  # by seed, the latest last
        self._turn = 0

    def note(self, seeds: list[int], returns: Table) -> None:
        """Remember what the candidates of a generation returned, (candidates, seeds)."""
        for seed, mean in zip(seeds, returns.mean(axis=0).tolist(), strict=True):
            self._means.pop(seed, None)
            self._means[seed] = mean
        for seed in list(self._means)[:-LATELY]:
            del self._means[seed]

    def again(self) -> list[int]:
        """Return the seeds of hard episodes to play now, in turns; none where none is hard."""
        returns = np.array(list(self._means.values()))
        count = round(HARDEST * len(returns))
        if count < EPISODES:
            return []
        order = np.argsort(returns, kind="stable")[:count]
        middle = np.median(returns)
        usual = NORMAL * float(np.median(np.abs(returns - middle)))
        if not returns[order].mean() < middle - FAR_BELOW * usual:
            return []
        seeds = list(self._means)
        chosen = [seeds[order[(self._turn + n) % count]] for n in range(EPISODES)]
        self._turn += EPISODES
        return chosen


def with_hard(scores: NDArray[np.float64], returns: Table) -> NDArray[np.float64]:
    """Return scores of candidates in which their returns in hard episodes count by their share."""
    if not returns.shape[1]:
        return scores
    mixed: NDArray[np.float64] = (1 - HARDEST) * scores + HARDEST * returns.mean(axis=1)
    return mixed
