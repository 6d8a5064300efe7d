"""How the robots drive, in the units of the road: the human model, and what nobody may exceed.

The human is the intelligent driver model with the numbers of the task (Flow's), the same noise, and
a crossing at which it yields (crossing.py). Plain functions of arrays, one entry per robot.
"""

import math

import numpy as np

from icct.robot.mapping import ROAD_STEP_S
from icct.robot.track import Numbers

DESIRED_SPEED_MPS = 30.0
TIME_HEADWAY_S = 1.0
MAX_ACCELERATION = 1.0  # m/s^2
COMFORTABLE_DECELERATION = 1.5  # m/s^2
STANDSTILL_GAP_M = 2.0
SHORTEST_GAP_M = 0.001
# The task draws 0.2 sqrt(0.1) m/s^2 every 0.1 s; this gives speeds the same variance per second.
NOISE_STD = 0.2 * math.sqrt(0.1) * math.sqrt(0.1 / ROAD_STEP_S)

HARDEST_BRAKING = 4.5  # m/s^2, SUMO's for cars


def human_acceleration(speed_mps: Numbers, gap_m: Numbers, leader_mps: Numbers) -> Numbers:
    """Return the accelerations of the intelligent driver model, in m/s^2.

    >>> human_acceleration(np.array([0.0]), np.array([2.0]), np.array([0.0]))
    array([0.])
    """
    interaction = 1 / (2 * math.sqrt(MAX_ACCELERATION * COMFORTABLE_DECELERATION))
    wanted_m = speed_mps * (TIME_HEADWAY_S + (speed_mps - leader_mps) * interaction)
    wanted_m = STANDSTILL_GAP_M + np.maximum(0.0, wanted_m)
    share = wanted_m / np.maximum(gap_m, SHORTEST_GAP_M)
    accelerations: Numbers = MAX_ACCELERATION * (
        1.0 - (speed_mps / DESIRED_SPEED_MPS) ** 4 - share**2
    )
    return accelerations


def safe_speed(gap_m: Numbers, leader_mps: Numbers) -> Numbers:
    """Return the speeds from which a robot can still stop, however hard its leader brakes."""
    reaction_mps = HARDEST_BRAKING * ROAD_STEP_S
    rolling = leader_mps * np.maximum(leader_mps - reaction_mps, 0.0)  # it may brake from now on
    room = rolling + 2 * HARDEST_BRAKING * np.maximum(gap_m, 0.0)
    speeds: Numbers = np.sqrt(reaction_mps**2 + room) - reaction_mps
    return np.where(gap_m > 0.0, speeds, 0.0)
