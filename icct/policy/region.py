"""Which observations reach a leaf: one box per leaf, exact to the last bit.

A box is one interval per feature. Splits make intervals open below (`x > threshold`) and closed
above (`x <= threshold`), so the boxes of a policy's leaves tile its bounds without overlap.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icct.policy.parts import Split

if TYPE_CHECKING:
    from icct.policy.policy import Policy


@dataclass(frozen=True)
class Interval:
    """The numbers from `low` (left out when `low_open`) to `high` (included)."""

    low: float
    high: float
    low_open: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no number lies inside, with real numbers and with floats alike."""
        if self.low_open:  # (low, high] holds a float exactly when high is above low
            return not self.low < min(self.high, sys.float_info.max)
        return self.low > self.high

    def below(self, threshold: float) -> "Interval":
        """Return the part that goes below a split."""
        return replace(self, high=min(self.high, threshold))

    def above(self, threshold: float) -> "Interval":
        """Return the part that goes above a split."""
        if threshold < self.low or (threshold == self.low and self.low_open):
            return self
        return replace(self, low=threshold, low_open=True)

    def intersect(self, other: "Interval") -> "Interval":
        """Return the numbers inside both."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        return Interval(low, min(self.high, other.high), low_open)

    def __contains__(self, number: float) -> bool:
        return (self.low < number if self.low_open else self.low <= number) and number <= self.high


Box = tuple[Interval, ...]


def bounds(policy: "Policy") -> Box:
    """Return the box of the policy's declared feature bounds."""
    return tuple(Interval(feature.low, feature.high) for feature in policy.features)


def is_empty(box: Box) -> bool:
    """Return whether no observation lies in the box."""
    return any(interval.is_empty for interval in box)


def halves(box: Box, split: Split) -> tuple[Box, Box]:
    """Return the parts of a box that go below and above a split."""
    f, interval = split.feature, box[split.feature]
    below = (*box[:f], interval.below(split.threshold), *box[f + 1 :])
    above = (*box[:f], interval.above(split.threshold), *box[f + 1 :])
    return below, above


def node_regions(policy: "Policy", box: Box | None = None) -> Iterator[tuple[int, Box]]:
    """Yield (node index, box of the observations that pass it), parents before children.

    Starts from `box`, by default the declared bounds. Nodes that nothing in it reaches are yielded
    too, with an empty box.
    """
    waiting = [(0, bounds(policy) if box is None else box)]
    while waiting:
        index, here = waiting.pop()
        yield index, here
        if isinstance(node := policy.nodes[index], Split):
            below, above = halves(here, node)
            waiting += [(node.above, above), (node.below, below)]


def leaf_regions(policy: "Policy", box: Box | None = None) -> dict[int, Box]:
    """Return the box of observations that reach each leaf.

    >>> from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
    >>> leaf = Leaf((Controller(),))
    >>> policy = Policy("p", (Feature("gap", "m", 0, 9),), (Action("a"),),
    ...                 (Split(0, 2.5, below=1, above=2), leaf, leaf))
    >>> leaf_regions(policy)[2]
    (Interval(low=2.5, high=9.0, low_open=True),)
    """
    leaves = set(policy.leaves)
    return {i: region for i, region in node_regions(policy, box) if i in leaves}


def end_of(interval: Interval, way: int) -> float:
    """Return the largest (way 1) or smallest float of an interval; infinite where it is."""
    if way > 0:
        return interval.high
    return math.nextafter(interval.low, math.inf) if interval.low_open else interval.low


def middle(interval: Interval) -> float:
    """Return a plain number of an interval: its middle, or the one nearest to 0 without ends."""
    low, high = end_of(interval, -1), interval.high
    if math.isfinite(high - low):
        return min(max(low + (high - low) / 2, low), high)
    return near_zero(interval)


def near_zero(interval: Interval) -> float:
    """Return the number of an interval that is nearest to 0."""
    return min(max(0.0, end_of(interval, -1)), interval.high)


def looked_at(policy: "Policy", observation: Sequence[float]) -> set[int]:
    """Return the features that the path of an observation and its leaf look at."""
    found: set[int] = set()
    for index in policy.path(observation):
        node = policy.nodes[index]
        if isinstance(node, Split):
            found.add(node.feature)
        else:
            found |= {feature for rule in node.controllers for feature, _ in rule.weights}
    return found
