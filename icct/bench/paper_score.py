"""What the paper's statistic makes of trees to deploy: the best of many short evaluations.

The paper's numbers are each the best evaluation seen while training. The best of hundreds of means
of five episodes is above the mean even where all of them are of one and the same policy, so a mean
over fresh episodes is measured against it with a handicap. Here ours has none.
"""

from collections.abc import Sequence

import numpy as np

from icct.bench.evidence import Row
from icct.learn.config import make_config

DRAWS = 20_000  # of evaluations; their best is then known to a fraction of a standard error


def paper_scores(row: Row) -> list[float]:
    """Return each tree's score as the paper's training would have it, from its fresh episodes."""
    config = make_config(row.task, row.method, recipe="paper")
    evaluations = config.steps // config.value("evaluate_every")
    episodes = config.value("evaluate_episodes")
    return [best_of(returns, evaluations, episodes) for returns in row.fresh_returns]


def best_of(returns: Sequence[float], evaluations: int, episodes: int) -> float:
    """Return what the best of so many evaluations is expected to be, of these episodes each.

    Evaluations are drawn from the returns with replacement. Of M that are drawn and ordered, number
    i is the best of N with a probability of (i / M)^N - ((i - 1) / M)^N.

    >>> best_of([7.0, 7.0], evaluations=100, episodes=5)
    7.0
    """
    drawn = np.random.default_rng(0).choice(np.asarray(returns), (DRAWS, episodes)).mean(axis=1)
    chances = np.diff(np.linspace(0.0, 1.0, DRAWS + 1) ** evaluations)
    return float(np.sort(drawn) @ chances)
