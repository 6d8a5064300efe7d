"""Steps per second of many environments: our crew of processes beside Gymnasium's AsyncVectorEnv.

    python benchmarks/stepping.py lunar-lander 20

Both step the same environments with the same random actions; the crew keeps several environments in
each process and exchanges everything through shared memory.
"""

import os
import sys
import time
from statistics import median

import gymnasium
import numpy as np

import icct.envs
from icct.envs.crew import Crew, Slot

STEPS, ROUNDS = 300, 5


def rates(step: object) -> float:
    """Return the median number of steps per second of a call."""
    measured = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(STEPS):
            step()  # type: ignore[operator]
        measured.append(STEPS / (time.perf_counter() - began))
    return median(measured)


def main(task: str, members: int) -> None:
    """Print both rates."""
    found = icct.envs.find_task(task)
    low = np.array([action.low for action in found.actions], np.float32)
    high = np.array([action.high for action in found.actions], np.float32)
    rng = np.random.default_rng(0)
    cores = len(os.sched_getaffinity(0))

    vector = gymnasium.vector.AsyncVectorEnv(
        [lambda: icct.envs.make(task)] * members, context="spawn"
    )
    vector.reset(seed=0)

    def theirs() -> None:
        vector.step(rng.uniform(low, high, (members, len(low))).astype(np.float32))

    peer = rates(theirs)
    vector.close()

    crew = Crew(found, [Slot(seed, False) for seed in range(members)], workers=cores)

    def ours() -> None:
        crew.actions[:] = rng.uniform(low, high, (members, len(low)))
        crew.go()
        crew.wait()

    own = rates(ours)
    crew.close()
    print(f"{task}, {members} environments, {cores} cores, environment steps per second:")
    print(f"  Gymnasium AsyncVectorEnv {peer * members:9,.0f}")
    print(f"  icct.envs.crew           {own * members:9,.0f}   ({own / peer:.1f} times)")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
