"""A toy whose best action is one number on most of a line and another one beyond a place."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box

PLACE, USUAL, BEYOND = 0.6, -0.2, 0.8
STEPS = 40


class TwoSides(gymnasium.Env):
    """A point wanders along the line from 0 to 1, again and again; actions do not move it."""

    observation_space = Box(0.0, 1.0, (2,), np.float32)  # the place, and a number without meaning
    action_space = Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.steps = self.np_random.random(), 0
        return self._observation(), {}

    def step(self, action):
        wanted = BEYOND if self.place > PLACE else USUAL
        reward = 1.0 - abs(float(action[0]) - wanted)
        self.place = (self.place + 1 / STEPS) % 1.0
        self.steps += 1
        return self._observation(), reward, False, self.steps == STEPS, {}

    def _observation(self):
        return np.array([self.place, self.np_random.random()], np.float32)
