"""A toy in which only what an action leads to is rewarded: move a point onto a target on a line."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box

REACH = 0.2  # how far the point moves in a step, at most
STEPS = 20


class GoToTarget(gymnasium.Env):
    """The reward is minus the distance before the action, so that a critic has to look ahead.

    A point that never moves scores about -13, one that runs away from the target -20 and worse,
    and the best one about -2.
    """

    observation_space = Box(-1.0, 1.0, (2,), np.float32)
    action_space = Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.target = self.np_random.uniform(-1.0, 1.0, 2)
        self.steps = 0
        return self._observation(), {}

    def step(self, action):
        reward = -abs(self.place - self.target)
        self.place = float(np.clip(self.place + REACH * action[0], -1.0, 1.0))
        self.steps += 1
        return self._observation(), reward, False, self.steps == STEPS, {}

    def _observation(self):
        return np.array([self.place, self.target], np.float32)
