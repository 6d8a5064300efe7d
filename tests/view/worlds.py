"""Small worlds of our own to serve: one that wanders, one that dies, one that hangs."""

import os
import time

import numpy as np

from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.view.show import Show
from icct.view.simulation import Moment

FEATURES = (Feature("gap", "x 10 m", 0, 1), Feature("speed", "m/s", -1, 1))


def walker() -> Policy:
    """Return a tree of three leaves."""
    return Policy(
        "walker",
        FEATURES,
        (Action("push", "x 2 N", -1, 1),),
        (
            Split(0, 0.5, below=1, above=2),
            Leaf((Controller(((1, 0.5),), 0.1),)),
            Split(1, 0.0, below=3, above=4),
            Leaf((Controller((), -0.4),)),
            Leaf((Controller(((0, -1.0), (1, 0.25)), 0.5),)),
        ),
        "clip",
    )


class Wander:
    """Observations drawn at random; the action earns its size."""

    def __init__(
        self, steps: int = 400, dies_at: int | None = None, hangs: bool = False, features: int = 2
    ) -> None:
        self._steps, self._dies_at, self._hangs = steps, dies_at, hangs
        self._features = features

    def reset(self, seed):
        self._rng, self._done = np.random.default_rng(seed), 0
        return Moment(self._observation(), poses=self._poses())

    def step(self, action):
        self._done += 1
        if self._done == self._dies_at:
            os._exit(3)
        if self._hangs:
            time.sleep(600)
        ended = "truncated" if self._done == self._steps else None
        return Moment(self._observation(), float(abs(action[0])), ended, poses=self._poses())

    def stage(self):
        return {
            "world": [0, 0, 10, 10],
            "lines": [{"points": [(0, 0), (10, 0), (10, 10)], "role": "edge"}],
            "bodies": {"me": {"role": "ego", "radius": 0.5, "label": "me"}},
        }

    def close(self):
        pass

    def _observation(self):
        return [self._rng.random(), *self._rng.uniform(-1, 1, self._features - 1)]

    def _poses(self):
        return {"me": (*self._rng.uniform(0, 10, 2), 0.0)}


def wandering(make=Wander, **options) -> Show:
    return Show(walker(), make, "somewhere", step_s=0.01, **options)
