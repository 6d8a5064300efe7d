"""What simple laws return on the multi-lane ring, and when: how much is there for a tree to gain?

    python benchmarks/weaving_laws.py            # a minute

All laws ask for the other lane in every step and hold a speed, some of them another speed while a
human car is still fast. All play the same episodes; the last columns are the reward of a step in
the first hundreds of steps. From step 500 on every law here that holds 5 m/s earns all there is.
"""

from typing import Any

import gymnasium
import numpy as np

from icct import Controller, Leaf, Policy, Split
from icct.envs import make
from icct.envs.catalog import MULTI_LANE_RING

FEATURES = {feature.name: index for index, feature in enumerate(MULTI_LANE_RING.features)}
SPEED_MPS = 12.0  # what a speed of 1 is in the observation
GAIN = 1.77  # per m/s, before the tanh
WEAVING = Controller(((FEATURES["lane_ego"], -8.0),), 2.0)  # left from lane 0, right from lane 1
SEEDS = range(500, 516)


def holding(speed_mps: float) -> Leaf:
    """Return the rule that holds a speed and weaves."""
    gain = GAIN * SPEED_MPS
    return Leaf((Controller(((FEATURES["speed_ego"], -gain),), GAIN * speed_mps), WEAVING))


def law(speed_mps: float, human: int = 0, above_mps: float = 0, first_mps: float = 0) -> Policy:
    """Return the law that holds a speed, and another one while a human car is above some speed."""
    nodes: tuple[Split | Leaf, ...] = (holding(speed_mps),)
    name = f"{speed_mps:g} m/s"
    if first_mps:
        split = Split(FEATURES[f"speed_human_{human}"], above_mps / SPEED_MPS, 1, 2)
        nodes = (split, holding(speed_mps), holding(first_mps))
        name += f"; {first_mps:g} m/s while car {human} is above {above_mps:g} m/s"
    task = MULTI_LANE_RING
    return Policy(name, task.features, task.actions, nodes)


LAWS = (
    law(5),
    law(4.8),
    law(5, 18, 7, 3.5),
    law(5, 14, 7, 3.5),
    law(5, 10, 8, 3.5),
    law(5, 6, 8.5, 3.5),
    law(5, 6, 8.5, 4.5),
    law(5, 10, 8.5, 6),
    law(5, 6, 8.5, 6),
    law(5, 2, 8.5, 6),
    law(5, 10, 8.5, 7),
    law(5, 14, 8.5, 7),
)


def rewards(env: gymnasium.Env[Any, Any], policy: Policy, seed: int) -> list[float]:
    """Return the reward of every step of an episode."""
    observation, _ = env.reset(seed=seed)
    found, over = list[float](), False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(policy.act(observation))
        found.append(float(reward))
        over = terminated or truncated
    return found


def main() -> None:
    """Print a table."""
    print("| law | return | less the first | steps 0-99 | 100-199 | 200-299 | 300-399 | 400-499 |")
    print("|---|---|---|---|---|---|---|---|")
    env = make(MULTI_LANE_RING.name)
    first: np.ndarray | None = None
    for number, policy in enumerate(LAWS):
        own = [rewards(env, policy, seed) for seed in SEEDS]
        totals = np.array([sum(episode) for episode in own])
        first = totals if first is None else first
        padded = np.array([episode + [0.0] * (1500 - len(episode)) for episode in own])
        early = padded.mean(0)[:500].reshape(5, 100).mean(1)
        change = totals - first
        cells = [
            f"{totals.mean():.1f} ± {_error(totals):.1f}",
            f"{change.mean():+.1f} ± {_error(change):.1f}" if number else "",
            *(f"{value:.2f}" for value in early),
        ]
        print(f"| {policy.name} | {' | '.join(cells)} |", flush=True)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


if __name__ == "__main__":
    main()
