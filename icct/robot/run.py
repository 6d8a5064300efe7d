"""Run the demo and say how the traffic was; with a policy and with a fourteenth human alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from icct.errors import ConfigError, PolicyError
from icct.policy import Policy
from icct.robot.arena import Arena
from icct.robot.fleet import EGO, ROBOTS
from icct.robot.mapping import ROAD_MPS, reward
from icct.robot.verifier import Violations

STEPS = 3000
PROGRESS_EVERY = 100  # steps
STANDING_MPS = 0.1  # on the road; slower is standing
HUMAN = "human"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Traffic:
    """How one run went; speeds in m/s of the road."""

    driver: str  # of the ego
    seed: int
    steps: int
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


def check_policy(policy: Policy) -> None:
    """Refuse a policy that is not for this road."""
    names = [f"human_{k}" for k in range(EGO)] + ["ego"]
    wanted = [f"speed_{name}" for name in names] + [f"position_{name}" for name in names]
    found = [feature.name for feature in policy.features]
    if found != wanted or len(policy.actions) != 1:
        raise PolicyError(
            f"{policy.name}: the ego needs a policy for the task figure-eight, with 28 features "
            f"({wanted[0]} to {wanted[-1]}) and one action; this one has {len(found)} features and "
            f"{len(policy.actions)} actions. Try zoo:figure-eight-pacer."
        )


def run(
    policy: Policy | None,
    *,
    seed: int = 0,
    steps: int = STEPS,
    drive_to_start: bool = True,
    progress: Progress | None = None,
) -> Traffic:
    """Return how the traffic was with a policy at the wheel of the ego, or a human (None)."""
    if policy is not None:
        check_policy(policy)
    if steps < 1:
        raise ConfigError(f"{steps} steps, expected at least 1.")
    arena = Arena(seed, drive_to_start=drive_to_start)
    speeds_mps = np.empty((steps, ROBOTS))
    held_back = 0
    for step in range(steps):
        arena.step(None if policy is None else float(policy.act(arena.observation)[0]))
        speeds_mps[step] = arena.fleet.speed_mps
        held_back += arena.fleet.held_back
        if progress is not None and step % PROGRESS_EVERY == PROGRESS_EVERY - 1:
            progress(step + 1, steps)
    return Traffic(
        driver=HUMAN if policy is None else policy.name,
        seed=seed,
        steps=steps,
        mean_mps=float(speeds_mps.mean()),
        ego_mps=float(speeds_mps[:, EGO].mean()),
        spread_mps=float(speeds_mps.std()),
        standing=float((speeds_mps < STANDING_MPS).mean()),
        reward=float(np.mean([reward(row) for row in speeds_mps])),
        held_back=held_back / steps,
        certified_steps=arena.fleet.certified_steps,
        violations=arena.violations,
        verdict=arena.verdict(),
    )


def table(runs: Sequence[Traffic]) -> str:
    """Return runs side by side as text, a line each."""
    width = max(len(traffic.driver) for traffic in runs)
    heads = "seed  mean of 14    on the road  the ego  spread  standing  reward  held back  errors"
    lines = [f"{'ego':<{width}}  {heads}"]
    for traffic in runs:
        errors = traffic.violations.too_close + traffic.violations.outside
        lines.append(
            f"{traffic.driver:<{width}}  {traffic.seed:>4}  {traffic.mean_cmps:>5.2f} cm/s  "
            f"{traffic.mean_mps:>9.2f} m/s  {traffic.ego_mps:>7.2f}  {traffic.spread_mps:>6.2f}  "
            f"{traffic.standing:>8.1%}  {traffic.reward:>6.3f}  {traffic.held_back:>9.1%}  "
            f"{errors:>6}"
        )
    return "\n".join(lines)
