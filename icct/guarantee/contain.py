"""Trajectories against a tube: whoever has recorded or simulated some can see whether they fit.

A proof needs no such check; what made it may. No sample of a trajectory of the plant may lie
outside, and none of the real thing either, where the model is right.
"""

import numpy as np

from icct.guarantee.prove import Search
from icct.guarantee.rounding import Array, Mask

SLACK = 1e-9  # relative to 1 plus the state: what an integrator may be wrong by
BLOCK = 4096  # trajectories at a time


def outside(search: Search, times: Array, states: Array) -> Mask:
    """Return which samples lie outside the tube, (trajectories, samples).

    A trajectory belongs to every start box that it starts in. Moments that the tube does not reach,
    since the question was answered before, count as inside.

    Args:
        search: Proved start boxes and their tube.
        times: Of the samples, in seconds.
        states: (trajectories, samples, states).
    """
    low = np.array([piece.low for piece in search.proved])
    high = np.array([piece.high for piece in search.proved])
    found = np.ones(states.shape[:2], dtype=bool)
    for box in range(len(low)):
        own = np.flatnonzero(((states[:, 0] >= low[box]) & (states[:, 0] <= high[box])).all(1))
        tube = search.tube.rows(search.tube.start == box)
        for first in range(0, len(own), BLOCK):
            rows = own[first : first + BLOCK]
            for sample, time in enumerate(times):
                there = tube.rows((tube.since <= time) & (tube.until >= time))
                if not len(there):
                    found[rows, sample] = False
                    continue
                points = states[rows, sample][:, None]
                slack = SLACK * (1 + np.abs(points))
                inside = (points >= there.low - slack) & (points <= there.high + slack)
                found[rows, sample] &= ~inside.all(2).any(1)
    return found
