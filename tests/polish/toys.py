"""Games without a simulator: the return is a formula of the policy, and noise by seed."""

import zlib

import numpy as np

from icct.policy import Action, Controller, Feature, Leaf, Policy, Split

FEATURES = tuple(Feature(name, low=-1, high=1) for name in ("a", "b", "c", "d"))
EPISODE_STEPS = 30


def two_leaves(split=0, threshold=0.0, below=((), -0.5), above=((), 0.5)):
    rules = [Leaf((Controller(weights, bias),)) for weights, bias in (below, above)]
    nodes = (Split(split, threshold, below=1, above=2), *rules)
    return Policy("toy", FEATURES, (Action("push"),), nodes, squash="clip")


class QuadraticGame:
    """The return falls with the square of the distance of three numbers from their best."""

    best = (0.3, -0.8, 0.1)  # threshold, bias below, bias above

    def __init__(self, noise=0.1):
        self.noise = noise
        self.calls = 0

    def returns(self, questions):
        self.calls += 1
        return [[self.value(p) + self._luck(p, seed) for seed in seeds] for p, seeds in questions]

    def value(self, policy):
        split, below, above = policy.nodes
        found = (split.threshold, below.controllers[0].bias, above.controllers[0].bias)
        return -sum((f - w) ** 2 for f, w in zip(found, self.best, strict=True))

    def _luck(self, policy, seed):
        """Noise that all policies share, and as much that each has for itself."""
        own = zlib.crc32(repr(policy.nodes).encode())
        shared = np.random.default_rng(seed).normal()
        return self.noise * (shared + np.random.default_rng((seed, own)).normal())

    def observations(self, policy, seeds):
        return np.random.default_rng(seeds).uniform(-1, 1, (400, len(FEATURES)))


class FollowGame:
    """Act as another policy does: the return is minus the squared error over an episode."""

    def __init__(self, target):
        self.target = target

    def returns(self, questions):
        return [[self._episode(policy, seed) for seed in seeds] for policy, seeds in questions]

    def _episode(self, policy, seed):
        seen = self._seen(seed)
        return -float(np.sum((policy.act_batch(seen) - self.target.act_batch(seen)) ** 2))

    def observations(self, policy, seeds):
        return np.concatenate([self._seen(seed) for seed in seeds])

    def _seen(self, seed):
        return np.random.default_rng(seed).uniform(-1, 1, (EPISODE_STEPS, len(FEATURES)))


class StoppedGame:
    """Another game that raises in the middle of its call number `at`."""

    def __init__(self, game, at, error):
        self.game, self.at, self.error = game, at, error

    def returns(self, questions):
        self.at -= 1
        if self.at == 0:
            raise self.error
        return self.game.returns(questions)

    def observations(self, policy, seeds):
        return self.game.observations(policy, seeds)
