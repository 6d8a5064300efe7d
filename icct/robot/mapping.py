"""Arena ↔ road: the robots' distances and speeds as the road of the task knows them.

A policy was trained on a road of 421.94 m with a limit of 12 m/s. One scale of length and one of
speed, hence one of time, carry over all of it: thresholds, gaps, accelerations. The fleet drives in
the units of the road; only the wheels are in those of the arena.
"""

import numpy as np

from icct.robot.track import ARC_M, CROSSINGS_M, LAP_M, Numbers

STEP_S = 0.033  # of the testbed
TOP_SPEED_MPS = 0.175  # of a robot: on the arcs the outer wheel, at 0.2 m/s, has some to steer with

ROAD_LIMIT_MPS = 12.0
TARGET_MPS = 5.0  # that the task rewards
ROAD_LENGTH_M = 421.94  # what the task divides positions by
ROAD_M = 141.37 / ARC_M  # metres of road in a metre of the arena: 51.3
ROAD_MPS = ROAD_LIMIT_MPS / TOP_SPEED_MPS  # m/s on the road for 1 m/s in the arena: 68.6
ROAD_STEP_S = STEP_S * ROAD_M / ROAD_MPS  # what a step of the testbed lasts on the road: 0.025 s
LAP_ROAD_M = LAP_M * ROAD_M
CROSSINGS_ROAD_M = tuple(ROAD_M * crossing for crossing in CROSSINGS_M)

# The edges of the task's road in driving order: where they begin on the lap, and the coordinate
# that the task gives that place. It was written for a shorter crossing, so that the coordinate of
# each crossing runs 3.2 m into that of the next edge.
EDGES_M = (
    (0.0, 0.28),  # bottom
    (30.0, 30.28),  # the crossing, upwards
    (39.4, 36.48),  # top
    (69.4, 66.76),  # upper ring
    (210.77, 208.4117),  # right
    (240.77, 238.4117),  # the crossing, to the left
    (250.17, 244.6117),  # left
    (280.17, 274.8917),  # lower ring
)


def road_coordinate(lap_m: Numbers) -> Numbers:
    """Return the task's coordinates of places on the lap, all in metres of the road.

    >>> road_coordinate(np.array([0.0, 50.0]))
    array([ 0.28, 47.08])
    """
    begins = np.array([begin for begin, _ in EDGES_M])
    coordinates = np.array([coordinate for _, coordinate in EDGES_M])
    edge = np.searchsorted(begins, lap_m, side="right") - 1
    values: Numbers = coordinates[edge] + lap_m - begins[edge]
    return values


def observed(lap_m: Numbers, speed_mps: Numbers) -> Numbers:
    """Return the policy's features: all speeds, then all positions, the ego last, as shares."""
    return np.concatenate(
        [speed_mps / ROAD_LIMIT_MPS, road_coordinate(lap_m) / ROAD_LENGTH_M],
    )


def reward(speed_mps: Numbers) -> float:
    """Return the task's reward for the speeds of all cars: 1 when each drives at 5 m/s.

    >>> round(reward(np.full(14, 5.0)), 6), reward(np.zeros(14))
    (1.0, 0.0)
    """
    off = float(np.sqrt(np.mean((speed_mps - TARGET_MPS) ** 2)))
    return max(0.0, 1.0 - off / TARGET_MPS)
