"""What polishing makes larger: one number from the returns of many episodes."""

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.errors import ConfigError, did_you_mean

Objective = Literal["mean", "worst-10%"]


def check_objective(objective: str) -> None:
    """Refuse a name that is not an objective."""
    known = get_args(Objective)
    if objective not in known:
        raise ConfigError(
            f"objective is {objective!r}, expected one of {', '.join(known)}."
            f"{did_you_mean(objective, known)}"
        )


def score(returns: ArrayLike, objective: Objective) -> NDArray[np.float64]:
    """Return the objective over the last axis: the mean, or the mean of the worst tenth.

    >>> float(score([3.0, 1.0, 2.0], "mean")), float(score([3.0, 1.0, 2.0], "worst-10%"))
    (2.0, 1.0)
    """
    table = np.asarray(returns, dtype=np.float64)
    if objective == "worst-10%":
        worst = math.ceil(table.shape[-1] / 10)
        table = np.sort(table, axis=-1)[..., :worst]
    mean: NDArray[np.float64] = table.mean(axis=-1)
    return mean
