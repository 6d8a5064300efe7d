"""The figure eight in the arena: two straights that cross, and the arcs that join them.

Everything is in metres of the arena. The proportions are those of the task's road, so that one
scale turns distances along the track into the positions that a policy was trained on (mapping.py).
Knows no robots and no traffic.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

RADIUS_M = 0.6  # of the arcs: the track ends 0.1 m before the arena does
# Half the angle at which the straights cross, 83 degrees, for which arc : straight = 141.37 : 69.4.
HALF_ANGLE = 0.7256143165766995
STRAIGHT_M = 2 * RADIUS_M / math.tan(HALF_ANGLE)
ARC_M = RADIUS_M * (math.pi + 2 * HALF_ANGLE)
LAP_M = 2 * (STRAIGHT_M + ARC_M)
CENTRE_M = RADIUS_M / math.sin(HALF_ANGLE)  # of the arcs, left and right of the crossing
CROSSINGS_M = (STRAIGHT_M / 2, STRAIGHT_M + ARC_M + STRAIGHT_M / 2)  # along the lap
STARTS_M = (0.0, STRAIGHT_M, STRAIGHT_M + ARC_M, 2 * STRAIGHT_M + ARC_M)  # of the four pieces
NEARBY_M = 0.35  # how far a robot is looked for from where it was: no other piece is so near
ROUNDING_M = 1e-9  # so much a point may lie beyond the end of its piece


def point_at(along_m: ArrayLike) -> Numbers:
    """Return x, y and heading at distances along the track, an array of shape (3, n)."""
    along_m = np.mod(np.asarray(along_m, dtype=float), LAP_M)
    piece = np.searchsorted(STARTS_M, along_m, side="right") - 1
    rest_m = along_m - np.take(STARTS_M, piece)
    first = piece < 2  # the straight up to the right and the arc after it; the others mirror them
    side = np.where(first, 1.0, -1.0)
    from_crossing_m = rest_m - STRAIGHT_M / 2
    turned = math.pi / 2 + HALF_ANGLE - rest_m / RADIUS_M  # on the right arc, which runs clockwise
    straight = piece % 2 == 0
    x = np.where(
        straight,
        from_crossing_m * math.cos(HALF_ANGLE),
        CENTRE_M + RADIUS_M * np.cos(turned),
    )
    y = np.where(straight, from_crossing_m * math.sin(HALF_ANGLE), RADIUS_M * np.sin(turned))
    heading = np.where(straight, HALF_ANGLE, turned - math.pi / 2)
    heading = np.where(first, heading, math.pi - heading)
    return np.vstack([side * x, y, wrapped(heading)])


def curvature_at(along_m: ArrayLike) -> Numbers:
    """Return the curvature in 1/m at distances along the track, positive to the left."""
    along_m = np.mod(np.asarray(along_m, dtype=float), LAP_M)
    piece = np.searchsorted(STARTS_M, along_m, side="right") - 1
    return np.take([0.0, -1.0 / RADIUS_M, 0.0, 1.0 / RADIUS_M], piece)


def locate(poses: Numbers, near_m: Numbers) -> tuple[Numbers, Numbers]:
    """Return how far along the track robots are, and how far to the left of it.

    Args:
        poses: x, y and heading, shape (3, n).
        near_m: About where they are along the track: at the crossing a point lies on two pieces.
    """
    candidates = np.array([_on_straight(poses, side) for side in (1.0, -1.0)])
    candidates = np.concatenate([candidates, [_on_arc(poses, side) for side in (1.0, -1.0)]])
    along_m, left_m = candidates[:, 0], candidates[:, 1]  # (pieces, n) each
    distance_m = np.abs(left_m)
    distance_m[np.abs(ahead(near_m, along_m, signed=True)) > NEARBY_M] = np.inf
    best = distance_m.argmin(axis=0)
    robots = np.arange(poses.shape[1])
    return np.mod(along_m[best, robots], LAP_M), left_m[best, robots]


def ahead(from_m: ArrayLike, to_m: ArrayLike, signed: bool = False) -> Numbers:
    """Return how far `to_m` is ahead along the track; signed: behind counts as negative."""
    distance_m: Numbers = np.mod(np.subtract(to_m, from_m), LAP_M)
    if signed:
        return np.where(distance_m > LAP_M / 2, distance_m - LAP_M, distance_m)
    return distance_m


def wrapped(angle: ArrayLike) -> Numbers:
    """Return angles between -pi and pi."""
    turned: Numbers = np.arctan2(np.sin(angle), np.cos(angle))
    return turned


def _on_straight(poses: Numbers, side: float) -> tuple[Numbers, Numbers]:
    """Return the distances along the track and to its left, on one of the straights."""
    x, y = side * poses[0], poses[1]
    along_m = x * math.cos(HALF_ANGLE) + y * math.sin(HALF_ANGLE)
    left_m = y * math.cos(HALF_ANGLE) - x * math.sin(HALF_ANGLE)
    held_m = np.clip(along_m, -STRAIGHT_M / 2, STRAIGHT_M / 2)
    start_m = STARTS_M[0] if side > 0 else STARTS_M[2]
    inside = np.abs(along_m - held_m) <= ROUNDING_M
    return start_m + STRAIGHT_M / 2 + held_m, np.where(inside, side * left_m, np.inf)


def _on_arc(poses: Numbers, side: float) -> tuple[Numbers, Numbers]:
    """Return the distances along the track and to its left, on one of the arcs."""
    x, y = side * poses[0] - CENTRE_M, poses[1]
    turned = np.mod(math.pi / 2 + HALF_ANGLE - np.arctan2(y, x), 2 * math.pi)
    left_m = np.hypot(x, y) - RADIUS_M  # the right arc runs clockwise: outside is to the left
    start_m = STARTS_M[1] if side > 0 else STARTS_M[3]
    inside = turned * RADIUS_M <= ARC_M + ROUNDING_M
    along_m = start_m + np.minimum(turned * RADIUS_M, ARC_M)
    return along_m, np.where(inside, side * left_m, np.inf)
