"""The arena: the simulator with the fleet in it, driven one acceleration of the ego at a time."""

from typing import Any

import numpy as np

from icct.robot.fleet import ROBOTS, Fleet
from icct.robot.simulator import barrier_certificate, open_simulator, verdict
from icct.robot.track import Numbers
from icct.robot.traffic import Account, Traffic, traffic_of


class Arena:
    """One run on the testbed's simulator.

    Args:
        seed: Of the robots' way to the start, and of the humans' noise.
        drive_to_start: Let the robots drive to where they begin, as the testbed does.
    """

    def __init__(self, seed: int, *, drive_to_start: bool = True) -> None:
        self._simulator: Any = open_simulator(seed, drive_to_start=drive_to_start)
        self._seed = seed
        self.fleet = Fleet(seed, barrier_certificate())
        self.account = Account()
        self._look()

    def step(self, ego_acceleration: float | None) -> None:
        """Go on by one step; None leaves the ego to the human model."""
        velocities = self.fleet.drive(ego_acceleration)
        self.account.violations.count(self.poses, velocities)
        self.account.note(self.fleet)
        self._simulator.set_velocities(np.arange(ROBOTS), velocities)
        self._simulator.step()
        self._look()

    def traffic(self, driver: str) -> Traffic:
        """Return how the run has been so far, with who drove the ego; at least one step."""
        return traffic_of(self.account, driver, self._seed, self.fleet, verdict(self._simulator))

    def _look(self) -> None:
        self.poses: Numbers = self._simulator.get_poses()
        self.observation: Numbers = self.fleet.see(self.poses)
