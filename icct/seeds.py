"""Which episodes are for what: every set of seeds, in one list, so that no two share an episode.

Nothing is ever chosen or reported on an episode that it has learned from. Evaluations spread their
seeds over 0 to 2**32 - 1 by a hash, from a base that is a different number for each purpose; what
distillation chooses on, polishing and measuring play lies in ranges above that.

| episodes of                 | seed of the episode                                           |
|-----------------------------|---------------------------------------------------------------|
| training                    | `training_seed(member's seed, number)`                        |
| checkpoints while training  | `episode_seed(SCORING + member's seed, number)`               |
| records, `icct adapt`       | `episode_seed(FRESH + member's seed, number)`                 |
| rounds of distillation      | `episode_seed(DISTILLING + 1000 seed + round, number)`        |
| `icct evaluate --seed S`    | `episode_seed(S, number)`, with S below `SCORING`             |
| all else                    | `seeds_above(purpose, seed, numbers)`, see `Purpose`          |
"""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

SCORING = 1_000_000
FRESH = 2_000_000
DISTILLING = 3_000_000
_TRAINING = 0x7EA1
_ABOVE = 0x9011


class Purpose(IntEnum):
    """What episodes with seeds from 2**32 on are for."""

    SEARCH = 1  # polishing: to find better policies
    VALIDATE = 2  # polishing: to choose one of them, or none
    REPORT = 3  # polishing: to say how good the chosen one is
    MEASURE = 4  # a task card: which values the features take
    CHOOSE = 5  # to choose a teacher, and a student of those that a distillation makes
    PRUNE = 6  # pruning: to see that the return does not fall
    TUNE = 7  # `icct tune`: to compare the trees of a search
    EXTEND = 8  # extending: to probe, to choose among candidates, and to decide


def training_seed(seed: int, episode: int) -> int:
    """Return the seed of a member's training episode."""
    return int(np.random.SeedSequence((_TRAINING, seed, episode)).generate_state(1)[0])


def episode_seed(seed: int, index: int) -> int:
    """Return the seed of episode `index` of an evaluation, 0 to 2**32 - 1."""
    return int(np.random.SeedSequence((seed, index)).generate_state(1)[0])


def seeds_above(purpose: Purpose, seed: int, numbers: Sequence[int]) -> list[int]:
    """Return the seeds of the episodes with these numbers in the range of a purpose.

    >>> [s >> 32 for s in seeds_above(Purpose.REPORT, seed=0, numbers=range(3))]
    [3, 3, 3]
    """
    drawn = (np.random.SeedSequence((_ABOVE, purpose, seed, n)).generate_state(1) for n in numbers)
    return [(int(purpose) << 32) + int(state[0]) for state in drawn]
