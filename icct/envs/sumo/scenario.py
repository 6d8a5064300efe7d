"""A traffic task as data: the road, the vehicles and how they are driven.

Follows the original configuration (Flow on SUMO) number by number; docs/tasks lists the sources.
Nothing here talks to SUMO.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from icct.envs.task import Road

NETWORKS = Path(__file__).parent / "networks"

STEP_S = 0.1
VEHICLE_LENGTH_M = 5.0  # SUMO's default

# Bits of SUMO's speed mode: 1 safe speed, 2 and 4 limits of acceleration, 8 right of way, 16 red.
SAFE_SPEED_AND_RIGHT_OF_WAY = 25
SAFE_SPEED_ONLY = 1

# Flow's intelligent driver model, the same for all humans that it drives.
DESIRED_SPEED_MPS = 30.0
TIME_HEADWAY_S = 1.0
MAX_ACCELERATION = 1.0  # m/s^2
COMFORTABLE_DECELERATION = 1.5  # m/s^2
STANDSTILL_GAP_M = 2.0
SHORTEST_GAP_M = 0.001
NO_LEADER_GAP_M = 1000.0
NOISE_STD = math.sqrt(STEP_S) * 0.2  # m/s^2, per vehicle and step

INTERACTION = 1 / (2 * math.sqrt(MAX_ACCELERATION * COMFORTABLE_DECELERATION))


@dataclass(frozen=True)
class Placement:
    """Where a vehicle starts, at standstill."""

    edge: str
    position_m: float
    lane: int = 0


@dataclass(frozen=True)
class Scenario:
    """Road, traffic and rewards of one traffic task."""

    network: str  # the name of the files in networks/
    loop: tuple[str, ...]  # the edges in driving order
    starts_m: dict[str, float]  # edge → coordinate of its begin; a position on it is added
    points_m: dict[str, float]  # edge → coordinate of all of it: short internal edges of figure 8
    road: Road
    target_speed_mps: float
    warm_up_steps: int
    placements: tuple[Placement, ...]  # the ego last
    human_speed_mode: int
    ego_speed_mode: int
    flow_humans: bool  # driven by Flow's model with noise; else by SUMO's, without
    colour_top_mps: float  # the speed that pictures show in the colour of fast

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The vehicles in the order of the observation, the ego last."""
        return (*(f"human_{k}" for k in range(len(self.placements) - 1)), "rl_0")

    @cached_property
    def routes(self) -> dict[str, tuple[str, ...]]:
        """Edge → one full loop that begins with it."""
        return {edge: self.loop[index:] + self.loop[:index] for index, edge in enumerate(self.loop)}


def flow_acceleration(speed: float, gap_m: float, leader_speed: float | None) -> float:
    """Return the acceleration of Flow's intelligent driver model, in m/s^2.

    Args:
        speed: Own speed in m/s.
        gap_m: Bumper-to-bumper distance to the leader.
        leader_speed: Its speed in m/s, or None where there is no leader.

    >>> flow_acceleration(0.0, 2.0, 0.0), flow_acceleration(30.0, 1000.0, None)
    (0.0, 0.0)
    """
    relative = speed / DESIRED_SPEED_MPS
    relative *= relative
    share = 1.0 - relative * relative
    if leader_speed is not None:
        if -SHORTEST_GAP_M < gap_m < SHORTEST_GAP_M:
            gap_m = SHORTEST_GAP_M
        wanted = speed * (TIME_HEADWAY_S + (speed - leader_speed) * INTERACTION)
        ratio = (STANDSTILL_GAP_M + wanted if wanted > 0.0 else STANDSTILL_GAP_M) / gap_m
        share -= ratio * ratio
    return MAX_ACCELERATION * share


def speed_reward(speeds: Sequence[float], target: float) -> float:
    """Return 1 when all speeds equal the target, down to 0 when they are far from it.

    >>> round(speed_reward([5.0, 5.0], 5.0), 6), speed_reward([0.0, 0.0], 5.0)
    (1.0, 0.0)
    """
    wanted = target * math.sqrt(len(speeds))
    distance = math.dist(speeds, [target] * len(speeds))
    return max(0.0, wanted - distance) / (wanted + 1.19e-7)
