"""How the traffic of a run was, in numbers, and runs side by side as a table."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from icct.robot.fleet import EGO, Fleet
from icct.robot.mapping import ROAD_MPS, reward
from icct.robot.track import Numbers
from icct.robot.verifier import Violations

STANDING_MPS = 0.1  # on the road; slower is standing


@dataclass
class Account:
    """What is noted of a run, step by step."""

    violations: Violations = field(default_factory=Violations)
    speeds_mps: list[Numbers] = field(default_factory=list)  # of all robots, on the road
    held_back_steps: int = 0

    def note(self, fleet: Fleet) -> None:
        """Note a step: how fast the robots are, and whether the ego had its way."""
        self.speeds_mps.append(fleet.speed_mps)
        self.held_back_steps += fleet.held_back


@dataclass(frozen=True)
class Traffic:
    """How one run went; speeds in m/s of the road."""

    driver: str  # of the ego
    seed: int
    mean_mps: float  # of all 14
    ego_mps: float
    spread_mps: float  # standard deviation over robots and steps
    standing: float  # share of robots and steps
    reward: float  # the task's, per step
    held_back: float  # share of steps in which the ego had to be slower than it wanted
    certified_steps: int  # in which the barrier certificate had a say
    violations: Violations
    verdict: str  # of the simulator

    @property
    def mean_cmps(self) -> float:
        """The mean speed of the robots in the arena, in cm/s."""
        return 100 * self.mean_mps / ROAD_MPS


def traffic_of(account: Account, driver: str, seed: int, fleet: Fleet, verdict: str) -> Traffic:
    """Return what an account of a run comes to."""
    speeds_mps = np.array(account.speeds_mps)
    return Traffic(
        driver=driver,
        seed=seed,
        mean_mps=float(speeds_mps.mean()),
        ego_mps=float(speeds_mps[:, EGO].mean()),
        spread_mps=float(speeds_mps.std()),
        standing=float((speeds_mps < STANDING_MPS).mean()),
        reward=float(np.mean([reward(row) for row in speeds_mps])),
        held_back=account.held_back_steps / len(speeds_mps),
        certified_steps=fleet.certified_steps,
        violations=account.violations,
        verdict=verdict,
    )


def table(runs: Sequence[Traffic]) -> str:
    """Return runs side by side as text, a line each."""
    width = max(len(traffic.driver) for traffic in runs)
    heads = "seed  mean of 14    on the road  the ego  spread  standing  reward  held back"
    lines = [f"{'ego':<{width}}  {heads}  certified  errors"]
    for traffic in runs:
        errors = traffic.violations.too_close + traffic.violations.outside
        lines.append(
            f"{traffic.driver:<{width}}  {traffic.seed:>4}  {traffic.mean_cmps:>5.2f} cm/s  "
            f"{traffic.mean_mps:>9.2f} m/s  {traffic.ego_mps:>7.2f}  {traffic.spread_mps:>6.2f}  "
            f"{traffic.standing:>8.1%}  {traffic.reward:>6.3f}  {traffic.held_back:>9.1%}  "
            f"{traffic.certified_steps:>9}  {errors:>6}"
        )
    return "\n".join(lines)
