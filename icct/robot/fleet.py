"""Fourteen robots on the track: poses in, velocities out, once per step of the testbed.

13 humans and, last, the ego: a policy gives its acceleration, or it is driven like the others. All
keep to the same limits: the speed from which they can still stop, the crossing, their wheels.
"""

from collections.abc import Callable

import numpy as np

from icct.robot.crossing import gap_to_line, let_in
from icct.robot.drivers import NOISE_STD, STANDSTILL_GAP_M, human_acceleration, safe_speed
from icct.robot.mapping import (
    LAP_ROAD_M,
    ROAD_LIMIT_MPS,
    ROAD_M,
    ROAD_MPS,
    ROAD_STEP_S,
    observed,
)
from icct.robot.track import Numbers, curvature_at, locate, point_at, wrapped
from icct.robot.verifier import AXLE_M, FASTEST_WHEEL_MPS, closest_m

ROBOTS = 14
EGO = ROBOTS - 1
# Where the task puts its cars, all moved on by 14 m: so no robot begins within 0.4 m of another.
START_ROAD_M = (
    14.0, 53.4, 82.1671, 110.6543, 139.4214, 168.1886, 196.9557,
    227.4412, 254.2083, 286.1755, 314.6626, 343.4298, 372.1969, 400.964,
)  # fmt: skip
BODY_M = 7.5  # of road that a robot takes: 0.146 m, where 0.135 m counts as a collision
STEERING_M = 0.12  # the way over which steering takes back most of an error
TOO_NEAR_M = 0.142  # nearer than the drivers ever let robots come, and not yet a collision
WHEEL_MPS = FASTEST_WHEEL_MPS * (1 - 1e-9)  # so that rounding takes no wheel beyond its limit

Certificate = Callable[[Numbers, Numbers], Numbers]  # velocities and poses → safe velocities


def start_poses() -> Numbers:
    """Return where the robots begin: x, y and heading, shape (3, 14)."""
    return point_at(np.array(START_ROAD_M) / ROAD_M)


class Fleet:
    """The robots, and what is remembered of them from one step to the next.

    Args:
        seed: Of the humans' noise.
        certificate: The testbed's barrier certificate, for when robots come too near.
    """

    def __init__(self, seed: int, certificate: Certificate | None = None) -> None:
        self.lap_m = np.array(START_ROAD_M)
        self.speed_mps = np.zeros(ROBOTS)
        self.inside: tuple[int, ...] = ()  # who may be on the crossing
        self.held_back = False  # whether the ego was slower than its policy wanted
        self.certified_steps = 0
        self._certificate = certificate
        self._noise = np.random.default_rng(seed)
        self._poses = start_poses()
        self._left_m = np.zeros(ROBOTS)  # of the track, in the arena

    def see(self, poses: Numbers) -> Numbers:
        """Take in where the robots are and return what the ego's policy observes."""
        along_m, self._left_m = locate(poses, self.lap_m / ROAD_M)
        self._poses, self.lap_m = poses, along_m * ROAD_M
        self.inside = let_in(self.inside, self.lap_m, self.speed_mps)
        return observed(self.lap_m, self.speed_mps)

    def drive(self, ego_acceleration: float | None = None) -> Numbers:
        """Return the linear and angular velocities to command, shape (2, 14).

        Args:
            ego_acceleration: In m/s^2 of the road; None leaves the ego to the human model.
        """
        gap_m, leader_mps = self._leaders()
        line_m, standing = gap_to_line(self.inside, self.lap_m), np.zeros(ROBOTS)
        acceleration = np.minimum(
            human_acceleration(self.speed_mps, gap_m, leader_mps),
            # A car that waits at the line stands on it, not a gap before it.
            human_acceleration(self.speed_mps, line_m + STANDSTILL_GAP_M, standing),
        ) + self._noise.normal(0.0, NOISE_STD, ROBOTS)
        if ego_acceleration is not None:
            acceleration[EGO] = ego_acceleration
        wanted_mps = np.maximum(self.speed_mps + acceleration * ROAD_STEP_S, 0.0)
        safe_mps = np.minimum(safe_speed(gap_m, leader_mps), safe_speed(line_m, standing))
        self.held_back = bool(wanted_mps[EGO] > safe_mps[EGO])
        speed_mps = np.minimum(np.minimum(wanted_mps, safe_mps), ROAD_LIMIT_MPS)
        velocities = within_wheels(self._steered(speed_mps / ROAD_MPS))
        if self._certificate is not None and closest_m(self._poses) < TOO_NEAR_M:
            velocities = within_wheels(self._certificate(velocities, self._poses))
            self.certified_steps += 1
        self.speed_mps = np.maximum(velocities[0], 0.0) * ROAD_MPS
        return velocities

    def _leaders(self) -> tuple[Numbers, Numbers]:
        """Return each robot's gap to the one in front of it, and the speed of that one."""
        order = np.argsort(self.lap_m)
        leader = np.empty(ROBOTS, dtype=np.intp)
        leader[order] = np.roll(order, -1)
        gap_m = (self.lap_m[leader] - self.lap_m) % LAP_ROAD_M - BODY_M
        return gap_m, self.speed_mps[leader]

    def _steered(self, speed_mps: Numbers) -> Numbers:
        """Return the velocities that follow the track at these speeds, in m/s of the arena."""
        along_m = self.lap_m / ROAD_M
        off = wrapped(self._poses[2] - point_at(along_m)[2])
        back = self._left_m / STEERING_M**2 + 2 * np.sin(off) / STEERING_M
        turn = curvature_at(along_m) - back
        return np.vstack([speed_mps, speed_mps * turn])


def within_wheels(velocities: Numbers) -> Numbers:
    """Return velocities that no wheel is too slow for, on the same curves."""
    wheel_mps = np.abs(velocities[0]) + AXLE_M / 2 * np.abs(velocities[1])
    slower: Numbers = velocities * np.minimum(1.0, WHEEL_MPS / np.maximum(wheel_mps, WHEEL_MPS))
    return slower
