"""The tube: boxes around all trajectories, each from one moment to a later one, under one leaf."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icct.guarantee.law import Parts
from icct.guarantee.logic import Stretch
from icct.guarantee.rounding import Array, Mask
from icct.guarantee.zonotope import Rows


@dataclass(frozen=True)
class Tube:
    """Boxes with their times, as arrays over all of them.

    From `since` to `until` every trajectory from start box `start` is inside one of the boxes that
    have this start and these times.
    """

    start: Rows  # the index of the start box
    leaf: Rows  # the leaf of the policy that acts
    since: Array  # seconds
    until: Array
    low: Array  # (boxes, states)
    high: Array

    def __len__(self) -> int:
        return len(self.start)

    def rows(self, which: Mask) -> "Tube":
        """Return some of the boxes."""
        return Tube(
            self.start[which],
            self.leaf[which],
            self.since[which],
            self.until[which],
            self.low[which],
            self.high[which],
        )

    @staticmethod
    def of(parts: Parts, stretch: Stretch) -> "Tube":
        """Return the boxes of one stretch."""
        since = np.full(len(parts), np.nextafter(float(stretch.since), -np.inf))
        until = np.full(len(parts), np.nextafter(float(stretch.until), np.inf))
        return Tube(parts.source, parts.leaf, since, until, stretch.low, stretch.high)

    @staticmethod
    def joined(tubes: Sequence["Tube"], states: int) -> "Tube":
        """Return all the boxes of some tubes."""
        nothing = np.zeros(0)
        none = np.zeros(0, dtype=np.intp)
        empty = Tube(none, none, nothing, nothing, np.zeros((0, states)), np.zeros((0, states)))
        parts = [empty, *tubes]
        return Tube(
            np.concatenate([tube.start for tube in parts]),
            np.concatenate([tube.leaf for tube in parts]),
            np.concatenate([tube.since for tube in parts]),
            np.concatenate([tube.until for tube in parts]),
            np.concatenate([tube.low for tube in parts]),
            np.concatenate([tube.high for tube in parts]),
        )
