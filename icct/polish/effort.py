"""How much a generation plays: what the noise asks for."""

import numpy as np

from icct.polish.game import Table
from icct.polish.objective import Objective, score

# Of each candidate. A generation averages over its candidates too, so where these do not suffice, a
# larger population does more.
FEWEST_EPISODES = {"mean": 2, "worst-10%": 10}
MOST_EPISODES = {"mean": 3, "worst-10%": 30}
LARGEST_POPULATION = 6.0  # in multiples of what is usual without noise
GROWTH = 1.4  # of the population at a time
# The correlation of the scores on two halves of the episodes: below, the noise asks for more;
# above, for less. Where it is near zero, the mean wanders away at random.
AGREEING = (0.2, 0.4)
ATTENTION = 0.2  # of the last generation, beside those before


class Effort:
    """The episodes of each candidate and the size of the population; it begins with few of both."""

    def __init__(self, objective: Objective) -> None:
        self._objective: Objective = objective
        self.episodes, self.population = FEWEST_EPISODES[objective], 1.0
        self._agreement = sum(AGREEING) / 2

    def adapt(self, returns: Table) -> None:
        """Ask for more episodes where two halves of them disagree on which candidate is better.

        Where they agree, for a smaller population, then for fewer episodes.
        """
        first, second = (
            score(half, self._objective) for half in (returns[:, ::2], returns[:, 1::2])
        )
        if len(returns) < 3 or not (first.std() > 0 and second.std() > 0):
            return  # a plateau: more episodes would not tell them apart either
        self._agreement += ATTENTION * (float(np.corrcoef(first, second)[0, 1]) - self._agreement)
        if AGREEING[0] <= self._agreement <= AGREEING[1]:
            return
        fewest, most = FEWEST_EPISODES[self._objective], MOST_EPISODES[self._objective]
        if self._agreement < AGREEING[0]:
            self.episodes = min(most, self.episodes + fewest // 2)
        elif self.population > 1.0:
            self.population = max(1.0, self.population / GROWTH)
        else:
            self.episodes = max(fewest, self.episodes - fewest // 2)
        self._agreement = sum(AGREEING) / 2

    def enlarge_population(self) -> None:
        """Ask for a larger population, where the most episodes are not enough.

        Even a noisy generation is a step upwards while the way is steep, and small populations take
        many such steps; large ones find the way where it is not.
        """
        if self.episodes == MOST_EPISODES[self._objective]:
            self.population = min(LARGEST_POPULATION, GROWTH * self.population)
