"""Follow a car: an environment of your own in 40 lines, in metres and metres per second."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict

STEP_S = 0.2
LONGEST_M = 200.0
STEPS = 300


class CarFollowing(gymnasium.Env):
    """Keep two seconds behind a leader that speeds up and brakes as it likes."""

    def __init__(self, top_speed: float = 30.0) -> None:
        speed = Box(0.0, top_speed, (1,), np.float32)
        self.observation_space = Dict(
            gap=Box(0.0, LONGEST_M, (1,), np.float32), leader_speed=speed, speed=speed
        )
        self.action_space = Box(-3.0, 3.0, (1,), np.float32)  # m/s^2
        self.top_speed = top_speed

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.gap, self.steps = self.np_random.uniform(20.0, 100.0), 0
        self.speed, self.leader = self.np_random.uniform(0.3, 0.7, 2) * self.top_speed
        self.wish = self.leader  # the speed that the leader drives at next
        return self._observation(), {}

    def step(self, action):
        acceleration, self.steps = float(action[0]), self.steps + 1
        if self.np_random.random() < 0.03:
            self.wish = self.np_random.uniform(0.0, self.top_speed)
        self.leader += np.clip(self.wish - self.leader, -3.0 * STEP_S, 1.5 * STEP_S)
        self.speed = float(np.clip(self.speed + acceleration * STEP_S, 0.0, self.top_speed))
        self.gap = min(self.gap + (self.leader - self.speed) * STEP_S, LONGEST_M)
        crashed = self.gap <= 0.0
        off = abs(self.gap - 5.0 - 2.0 * self.speed) / (5.0 + 2.0 * self.speed)
        reward = -100.0 if crashed else 1.0 - min(off, 1.0) - 0.01 * acceleration**2
        ends = {"crashed": crashed}
        return self._observation(), reward, crashed, self.steps == STEPS, ends

    def _observation(self):
        values = {"gap": max(self.gap, 0.0), "leader_speed": self.leader, "speed": self.speed}
        return {name: np.array([value], np.float32) for name, value in values.items()}

    # -- optional: how it looks in icct view; the cars drive upwards ------------------------------

    def stage(self):
        road = {"points": [(0, -40), (0, 160)], "role": "road", "width": 8}
        car = {"length": 5.0, "width": 2.2}
        return {
            "world": [-35, -10, 35, 130],
            "lines": [road, {"points": road["points"], "role": "guide"}],
            "bodies": {
                "ego": {"role": "ego", "label": "ego", **car},
                "leader": {"role": "other", "label": "leader", **car},
            },
            "tint": {"name": "speed", "unit": "m/s", "low": 0, "high": self.top_speed},
        }

    def poses(self):  # x and y of the centre, heading, speed
        up = np.pi / 2
        ahead = 5.0 + self.gap  # from centre to centre
        return {"ego": (2, 0, up, self.speed), "leader": (2, ahead, up, self.leader)}
