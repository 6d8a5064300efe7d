"""What the testbed's verifier counts, step by step, by its own rules.

Robots outside the arena and pairs too close are errors: it rejects the script. Wheels asked to turn
faster than they can are a warning. The simulator prints such counts at the end, in `debug()`.
"""

from dataclasses import dataclass

import numpy as np

from icct.robot.track import Numbers

ARENA_M = (-1.6, 1.6, -1.0, 1.0)  # x from, to; y from, to
COLLISION_M = 0.135  # between the middles of two robots, which lie ahead of their axles
AHEAD_M = 0.025
AXLE_M = 0.11
FASTEST_WHEEL_MPS = 0.2


@dataclass
class Violations:
    """How often the rules were broken."""

    too_close: int = 0  # pairs of robots, in every step
    outside: int = 0  # steps
    too_fast: int = 0  # steps

    def count(self, poses: Numbers, velocities: Numbers) -> None:
        """Count one step: where the robots are before it, and what they are told."""
        x, y = poses[0], poses[1]
        x_from, x_to, y_from, y_to = ARENA_M
        self.outside += bool(np.any((x < x_from) | (x > x_to) | (y < y_from) | (y > y_to)))
        self.too_close += int(np.sum(_distances(poses) <= COLLISION_M))
        wheel_mps = np.abs(velocities[0]) + AXLE_M / 2 * np.abs(velocities[1])
        self.too_fast += bool(np.any(wheel_mps > FASTEST_WHEEL_MPS))

    @property
    def rejected(self) -> bool:
        """Whether the testbed would refuse the script."""
        return self.too_close + self.outside > 0


def closest_m(poses: Numbers) -> float:
    """Return the distance between the two robots that are nearest to each other."""
    return float(_distances(poses).min())


def _distances(poses: Numbers) -> Numbers:
    """Return the distances of all pairs, as the verifier takes them."""
    middles = poses[:2] + AHEAD_M * np.vstack([np.cos(poses[2]), np.sin(poses[2])])
    first, second = np.triu_indices(poses.shape[1], 1)
    apart = middles[:, first] - middles[:, second]
    distances: Numbers = np.sqrt(apart[0] ** 2 + apart[1] ** 2)
    return distances
