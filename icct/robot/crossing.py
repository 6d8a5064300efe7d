"""The crossing: nobody has right of way, and who comes first goes first.

A robot near the crossing asks for it, and is let in as long as nobody from the other side has been;
all who wait stop at the line. Robots that follow each other closely are let in together, which is
why a platoon passes without stopping. In metres of the road.
"""

import numpy as np

from icct.robot.mapping import CROSSINGS_ROAD_M, LAP_ROAD_M
from icct.robot.track import Numbers

STOP_LINE_M = 10.0  # from the middle of the crossing back to where a waiting robot's middle stands
CLEAR_M = 8.0  # from the middle of the crossing to where the others may start
LOOK_AHEAD_S = 3.0  # a robot asks for the crossing so long before the line
LOOK_AHEAD_M = 2.0


def to_middle(lap_m: Numbers) -> Numbers:
    """Return how far each robot has to go to each way over the crossing, shape (2, n).

    Negative: it is past it. Between -1/2 and 1/2 lap.
    """
    away_m = np.subtract.outer(CROSSINGS_ROAD_M, lap_m)
    distances: Numbers = (away_m + LAP_ROAD_M / 2) % LAP_ROAD_M - LAP_ROAD_M / 2
    return distances


def let_in(inside: tuple[int, ...], lap_m: Numbers, speed_mps: Numbers) -> tuple[int, ...]:
    """Return who may be on the crossing now.

    Args:
        inside: Who was let in before; they stay until they are clear of it.
        lap_m: Where the robots are.
        speed_mps: How fast they are.
    """
    middle_m = to_middle(lap_m)
    ways = np.where(np.abs(middle_m[0]) <= np.abs(middle_m[1]), 0, 1)
    here_m = middle_m[ways, np.arange(len(lap_m))]
    line_m = here_m - STOP_LINE_M
    staying = [robot for robot in inside if here_m[robot] > -CLEAR_M]
    arrival_s = np.maximum(line_m, 0.0) / np.maximum(speed_mps, 0.1)
    asking = (line_m <= LOOK_AHEAD_M + LOOK_AHEAD_S * speed_mps) & (here_m > -CLEAR_M)
    for robot in np.lexsort((arrival_s, line_m > 0.0)):  # those beyond the line before all others
        if asking[robot] and robot not in staying and all(ways[r] == ways[robot] for r in staying):
            staying.append(int(robot))
    return tuple(staying)


def gap_to_line(inside: tuple[int, ...], lap_m: Numbers) -> Numbers:
    """Return how far each robot is from a line at which it must stop; inf for who may pass."""
    middle_m = to_middle(lap_m)
    line_m = np.maximum(middle_m - STOP_LINE_M, 0.0)
    gap_m: Numbers = np.where(middle_m > -CLEAR_M, line_m, np.inf).min(axis=0)
    gap_m[list(inside)] = np.inf
    return gap_m
