"""Policy × observation → how much the observation may be off before the decision changes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icct.errors import ConfigError
from icct.policy.parts import Split
from icct.policy.policy import Policy
from icct.policy.region import Box, Interval, bounds
from icct.policy.rounding import difference_above
from icct.verify.extreme import extreme
from icct.verify.search import leaves_in

HALVINGS = 60  # of the radius; it is exact to a float's precision of the widest one


@dataclass(frozen=True)
class Robustness:
    """How far every feature of one observation may move at once, each in its own unit."""

    leaf: int
    flip_distance: float | None  # to the nearest threshold of the path; None: there is none
    flip_split: int | None
    delta: float
    radius: float  # of a box around the observation in which no action moves by more than delta

    def as_text(self) -> str:
        """Return a few lines for people."""
        flip = (
            "no threshold inside the bounds is in the way"
            if self.flip_distance is None
            else f"the decision flips at split {self.flip_split}, {self.flip_distance:.6g} away"
        )
        return (
            f"leaf {self.leaf}: {flip}\n"
            f"within {self.radius:.6g} of every feature no action moves by more than {self.delta:g}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; infinite numbers become null."""
        return {
            key: None if isinstance(value, float) and math.isinf(value) else value
            for key, value in vars(self).items()
        }


def robustness(policy: Policy, observation: ArrayLike, delta: float) -> Robustness:
    """Return how far an observation is from another decision, and from another action.

    >>> from icct.zoo import zoo_policy
    >>> policy = zoo_policy("ring-cruiser")
    >>> around = robustness(policy, [0.5] * 21 + [0.12] + [0.5] * 22, delta=0.3)
    >>> round(around.flip_distance, 9), round(around.radius, 9)
    (0.01, 0.001)
    """
    if not delta >= 0:
        raise ConfigError(f"delta is {delta}, expected 0 or more.")
    acted = policy.act(observation).tolist()
    path = policy.path(observation)
    values: list[float] = np.asarray(observation, dtype=np.float64).tolist()
    flips = [
        (abs(values[split.feature] - split.threshold), index)
        for index in path[:-1]
        if isinstance(split := policy.nodes[index], Split) and _both_sides(policy, split)
    ]
    distance, at = min(flips, default=(None, None))
    low, high = 0.0, _widest(policy, values)
    if _moves_at_most(policy, values, acted, high, delta):
        low = high
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        if _moves_at_most(policy, values, acted, middle, delta):
            low = middle
        else:
            high = middle
    return Robustness(path[-1], distance, at, delta, low)


def _both_sides(policy: Policy, split: Split) -> bool:
    feature = policy.features[split.feature]
    return feature.low <= split.threshold < feature.high


def _widest(policy: Policy, values: list[float]) -> float:
    """Return a radius that reaches all of the bounds; the largest float where they are infinite."""
    reach = [
        max(abs(value - feature.low), abs(value - feature.high))
        for value, feature in zip(values, policy.features, strict=True)
    ]
    return min(max(reach), 1e300)


def _moves_at_most(
    policy: Policy, values: list[float], acted: list[float], radius: float, delta: float
) -> bool:
    for leaf, box in leaves_in(policy, _ball(policy, values, radius)):
        for position, here in enumerate(acted):
            for way in (-1, 1):
                end = extreme(policy, leaf, position, box, way)
                if not difference_above(way * end.value, way * here) + end.slack <= delta:
                    return False
    return True


def _ball(policy: Policy, values: list[float], radius: float) -> Box:
    """Return the box around an observation, inside the bounds; it always holds the observation."""
    return tuple(
        Interval(
            min(max(value - radius, allowed.low), value),
            max(min(value + radius, allowed.high), value),
        )
        for value, allowed in zip(values, bounds(policy), strict=True)
    )
