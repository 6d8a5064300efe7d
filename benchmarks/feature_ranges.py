"""The ranges behind the catalog's `measured` bounds: linear controllers of many gains, with noise.

Prints what was seen beside what the catalog declares. Controllers that turn the lane-keeping car
in circles (heading beyond 2 rad) and what follows in that episode are left out.

    python benchmarks/feature_ranges.py
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import icct.envs

TRIALS = 60


def pendulum(generator: np.random.Generator) -> Callable[[Any], Any]:
    """Return a random linear law on the four numbers of the state."""
    gains = np.array([1.0, 15.0, 1.5, 2.5]) * np.exp(generator.normal(0, 0.5, 4))
    noise = generator.choice([0.0, 0.5, 1.5])
    return lambda obs: [obs @ gains + generator.normal(0, noise)]


def steering(generator: np.random.Generator) -> Callable[[Any], Any]:
    """Return a random linear law on lateral and heading error."""
    lateral, heading = np.array([0.2, 1.2]) * np.exp(generator.normal(0, 0.8, 2))
    noise = generator.choice([0.0, 0.2, 0.4])
    return lambda obs: [
        -lateral * (obs[8] - obs[4]) - heading * (obs[9] - obs[5]) + generator.normal(0, noise)
    ]


def main() -> None:
    """Measure and print."""
    for name, law, options in (
        ("inverted-pendulum", pendulum, {}),
        ("lane-keeping", steering, {"integrator": "rk4"}),
        ("lane-keeping", steering, {"integrator": "euler"}),
    ):
        env, generator = icct.envs.make(name, **options), np.random.default_rng(0)
        seen = []
        for trial in range(TRIALS):
            act, ended = law(generator), False
            observation, _ = env.reset(seed=trial)
            while not ended and not (name == "lane-keeping" and abs(observation[9]) > 2):
                seen.append(observation)
                observation, _, terminated, truncated, _ = env.step(np.array(act(observation)))
                ended = terminated or truncated
        env.close()
        print(name, *options.values(), f"({len(seen)} observations)")
        table = np.array(seen)
        for feature, low, high in zip(env.task.features, table.min(0), table.max(0), strict=True):
            declared = f"declared {feature.low:g} to {feature.high:g}, {feature.origin}"
            print(f"  {feature.name:<24} {low:8.3f} {high:8.3f}   {declared}")


if __name__ == "__main__":
    main()
