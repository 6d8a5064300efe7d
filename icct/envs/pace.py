"""How fast a task's simulator goes on this machine, measured; what every estimate starts from."""

import time

import numpy as np

from icct.envs.episodes import Player
from icct.envs.task import Task

LOOK_S = 1.5  # seconds of the simulator, for a plan of minutes
GLANCE_S = 0.3  # and for a single number


def simulator_pace(task: Task, look_s: float = LOOK_S) -> float:
    """Return steps per second of the simulator on one core."""
    player = Player(task)
    steps, began = 0, time.monotonic()
    try:
        middle = np.array([action.centre for action in task.actions])
        while time.monotonic() - began < look_s:
            player.env.reset(seed=steps)
            done = False
            while not done and time.monotonic() - began < look_s:
                *_, terminated, truncated, _ = player.env.step(middle)
                done, steps = terminated or truncated, steps + 1
    finally:
        player.close()
    return max(1, steps) / (time.monotonic() - began)


def episodes_s(task: Task, episodes: float, workers: int) -> float:
    """Return the seconds that episodes take at most, here, shared among some processes."""
    return episodes * task.horizon / (simulator_pace(task, GLANCE_S) * workers)
