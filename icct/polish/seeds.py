"""Which episodes polishing plays: three sets of seeds that share none, and none with others.

Training, scoring and `icct evaluate` draw their seeds from 0 to 2**32 - 1. Each set here has a
range of its own above that, so that nothing is ever chosen or reported on an episode it has seen.
"""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np


class SeedSet(IntEnum):
    """What the episodes are for."""

    SEARCH = 1  # to find better policies
    VALIDATE = 2  # to choose one of them, or none
    REPORT = 3  # to say how good the chosen one is


def polish_seeds(kind: SeedSet, seed: int, numbers: Sequence[int]) -> list[int]:
    """Return the seeds of the episodes with these numbers in one of the three sets.

    >>> [s >> 32 for s in polish_seeds(SeedSet.REPORT, seed=0, numbers=range(3))]
    [3, 3, 3]
    """
    drawn = (np.random.SeedSequence((0x9011, kind, seed, n)).generate_state(1) for n in numbers)
    return [(int(kind) << 32) + int(state[0]) for state in drawn]
