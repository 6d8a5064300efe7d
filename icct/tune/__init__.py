"""Which sizes and which recipe a task needs: many small trees, and the front of the best of them.

teachers, a population of each size ─► trees of many settings, in rounds ─► front, fresh episodes
learning rates side by side            Optuna asks, validation answers     return × parameters
"""

from icct.tune.config import Tuning
from icct.tune.study import Tuned, tune

__all__ = ["Tuned", "Tuning", "tune"]
