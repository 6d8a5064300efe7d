"""What simple laws return on the multi-lane ring, and when: how much is there for a tree to gain?

    python benchmarks/weaving_laws.py                                      # 2 minutes
    python benchmarks/weaving_laws.py --first 600 --episodes 64 --laws 0 14  # 1 minute

All laws ask for the other lane in every step and hold a speed, some of them another speed while a
human car is still fast, everywhere or on one edge alone. All play the same episodes; the last
columns are the reward of a step in the first hundreds of steps. From step 500 on every law here
that holds 5 m/s earns all there is.

On the edge named right (57.6 to 115.1 m) the ego's route is about to end. A leader that is further
away than that is out of its sight, and for the first 255 steps an ego without a leader may not
change lanes (`lane_change_gate` of the task). So it pays to be soon through there.
"""

import argparse
from typing import Any

import gymnasium
import numpy as np

from icct import Controller, Leaf, Policy, Split
from icct.envs import make
from icct.envs.catalog import MULTI_LANE_RING, MULTI_LANE_ROAD

FEATURES = {feature.name: index for index, feature in enumerate(MULTI_LANE_RING.features)}
SPEED_MPS = 12.0  # what a speed of 1 is in the observation
GAIN = 1.77  # per m/s, before the tanh
WEAVING = Controller(((FEATURES["lane_ego"], -8.0),), 2.0)  # left from lane 0, right from lane 1
RIGHT_M = (57.0, 115.0)  # an edge of the ring


def holding(speed_mps: float) -> Leaf:
    """Return the rule that holds a speed and weaves."""
    gain = GAIN * SPEED_MPS
    return Leaf((Controller(((FEATURES["speed_ego"], -gain),), GAIN * speed_mps), WEAVING))


def law(speed_mps: float, human: int = 0, above_mps: float = 0, first_mps: float = 0) -> Policy:
    """Return the law that holds a speed, and another one while a human car is above some speed."""
    name = f"{speed_mps:g} m/s"
    if not first_mps:
        return _policy(name, holding(speed_mps))
    name += f"; {first_mps:g} m/s while car {human} is above {above_mps:g} m/s"
    split = Split(FEATURES[f"speed_human_{human}"], above_mps / SPEED_MPS, 1, 2)
    return _policy(name, split, holding(speed_mps), holding(first_mps))


def dash(human: int, above_mps: float, fast_mps: float) -> Policy:
    """Return the law that holds 5 m/s, and is faster on one edge while a human car is fast."""
    position = FEATURES["position_ego"]
    where = f"from {RIGHT_M[0]:g} to {RIGHT_M[1]:g} m"
    return _policy(
        f"5 m/s; {fast_mps:g} m/s {where} while car {human} is above {above_mps:g} m/s",
        Split(FEATURES[f"speed_human_{human}"], above_mps / SPEED_MPS, 1, 2),
        holding(5),
        Split(position, RIGHT_M[0] / MULTI_LANE_ROAD.length_m, 3, 4),
        holding(5),
        Split(position, RIGHT_M[1] / MULTI_LANE_ROAD.length_m, 5, 6),
        holding(fast_mps),
        holding(5),
    )


def _policy(name: str, *nodes: Split | Leaf) -> Policy:
    return Policy(name, MULTI_LANE_RING.features, MULTI_LANE_RING.actions, nodes)


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
    dash(6, 7, 8),
    dash(6, 7, 10),
    dash(1, 8, 7),
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--first", type=int, default=500, help="the first episode")
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--laws", type=int, nargs="+", default=range(len(LAWS)), help="these rows")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.episodes)
    print("| law | return | less the first | steps 0-99 | 100-199 | 200-299 | 300-399 | 400-499 |")
    print("|---|---|---|---|---|---|---|---|")
    env = make(MULTI_LANE_RING.name)
    first: np.ndarray | None = None
    for policy in (LAWS[number] for number in options.laws):
        own = [rewards(env, policy, seed) for seed in seeds]
        totals = np.array([sum(episode) for episode in own])
        first = totals if first is None else first
        padded = np.array([episode + [0.0] * (1500 - len(episode)) for episode in own])
        early = padded.mean(0)[:500].reshape(5, 100).mean(1)
        change = totals - first
        cells = [
            f"{totals.mean():.1f} ± {_error(totals):.1f}",
            "" if totals is first else f"{change.mean():+.1f} ± {_error(change):.1f}",
            *(f"{value:.2f}" for value in early),
        ]
        print(f"| {policy.name} | {' | '.join(cells)} |", flush=True)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


if __name__ == "__main__":
    main()
