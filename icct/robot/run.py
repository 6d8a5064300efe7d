"""Run the demo: with a policy at the wheel of the ego, or with a fourteenth human."""

from collections.abc import Callable

from icct.errors import ConfigError, PolicyError
from icct.policy import Policy
from icct.robot.arena import Arena
from icct.robot.fleet import EGO
from icct.robot.traffic import Traffic

STEPS = 3000
PROGRESS_EVERY = 100  # steps
HUMAN = "human"

Progress = Callable[[int, int], None]


def check_policy(policy: Policy) -> None:
    """Refuse a policy that is not for this road."""
    names = [f"human_{k}" for k in range(EGO)] + ["ego"]
    wanted = [f"speed_{name}" for name in names] + [f"position_{name}" for name in names]
    found = [feature.name for feature in policy.features]
    if found != wanted or len(policy.actions) != 1:
        raise PolicyError(
            f"{policy.name}: the ego needs a policy for the task figure-eight, with 28 features "
            f"({wanted[0]} to {wanted[-1]}) and one action; this one has {len(found)} features and "
            f"{len(policy.actions)} actions. Try zoo:figure-eight-platoon."
        )


def check_steps(steps: int) -> None:
    """Refuse a run without steps."""
    if steps < 1:
        raise ConfigError(f"{steps} steps, expected at least 1.")


def run(
    policy: Policy | None,
    *,
    seed: int = 0,
    steps: int = STEPS,
    drive_to_start: bool = True,
    progress: Progress | None = None,
) -> Traffic:
    """Return how the traffic was with a policy at the wheel of the ego, or a human (None)."""
    check_steps(steps)
    if policy is not None:
        check_policy(policy)
    arena = Arena(seed, drive_to_start=drive_to_start)
    for step in range(1, steps + 1):
        arena.step(None if policy is None else float(policy.act(arena.observation)[0]))
        if progress is not None and step % PROGRESS_EVERY == 0:
            progress(step, steps)
    return arena.traffic(HUMAN if policy is None else policy.name)
