"""What an action does across a threshold: the largest rise and the largest fall at a split.

Just below and just above a threshold the split's feature is one number and the next. With a place
for either, both sides are policies over one box, and the jump is their difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from icct.policy.difference import rule_of, unlike_leaves
from icct.policy.edit import renumbered
from icct.policy.gap import largest_gap
from icct.policy.parts import Controller, Feature, Leaf, Node, Split
from icct.policy.policy import Policy
from icct.policy.region import Box, Interval, end_of


@dataclass(frozen=True)
class Jump:
    """How far an action can rise and fall when a feature goes from below a split to above it."""

    split: int
    action: str
    rise: float  # 0 or more
    fall: float  # 0 or more
    observation: tuple[float, ...] | None  # at the threshold, where the larger of the two is

    @property
    def largest(self) -> float:
        """The larger of rise and fall."""
        return max(self.rise, self.fall)


def jumps_at(policy: Policy, index: int, box: Box) -> tuple[Jump, ...]:
    """Return the jumps of every action at a split that the observations of a box reach.

    >>> from icct.policy.region import bounds
    >>> from icct.zoo import zoo_policy
    >>> policy = zoo_policy("ring-cruiser")
    >>> [round(jump.fall, 9) for jump in jumps_at(policy, 2, bounds(policy))]
    [0.0]
    """
    split = policy.split(index)
    at, f = split.threshold, split.feature
    after = end_of(box[f].above(at), -1)  # the first float above
    here = (*box[:f], Interval(at, at), Interval(after, after), *box[f + 1 :])
    below, above = _side(policy, split.below, f, 0), _side(policy, split.above, f, 1)
    found = [Jump(index, action.name, 0.0, 0.0, None) for action in policy.actions]
    for i, j, part in unlike_leaves(below, above, here):
        for position, jump in enumerate(found):
            low, high = rule_of(below, i, position), rule_of(above, j, position)
            if low == high:
                continue
            rise, fall = largest_gap(high, low, part), largest_gap(low, high, part)
            top = rise if rise.largest >= fall.largest else fall
            found[position] = Jump(
                index,
                jump.action,
                max(jump.rise, rise.largest),
                max(jump.fall, fall.largest),
                (*top.point[: f + 1], *top.point[f + 2 :])
                if top.largest > jump.largest
                else jump.observation,
            )
    return tuple(found)


def _side(policy: Policy, root: int, feature: int, place: int) -> Policy:
    """Return the tree under a node over features with one more: `feature` has two places.

    The two are next to each other, so that rules add up their terms in the same order.
    """
    places = [f + (f > feature) for f in range(len(policy.features))]
    places[feature] += place
    nodes: dict[int, Node] = {}
    waiting = [root]
    while waiting:
        index = waiting.pop()
        node = policy.nodes[index]
        if isinstance(node, Split):
            waiting += [node.below, node.above]
            node = replace(node, feature=places[node.feature])
        else:
            node = Leaf(tuple(_moved(rule, places) for rule in node.controllers))
        nodes[index] = node
    taken = {named.name for named in policy.features}
    second = Feature(next(name for n in range(len(taken) + 1) if (name := f"_{n}") not in taken))
    features = (*policy.features[: feature + 1], second, *policy.features[feature + 1 :])
    return replace(policy, features=features, nodes=renumbered(nodes, root))


def _moved(rule: Controller, places: Sequence[int]) -> Controller:
    return Controller(tuple((places[f], weight) for f, weight in rule.weights), rule.bias)
