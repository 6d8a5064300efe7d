"""What an action does across a threshold: the largest rise and the largest fall at a split.

Just below and just above a threshold the split's feature is a number, so what is left on either
side is a smaller policy, and the jump is the difference of the two.
"""

from dataclasses import dataclass, replace

from icct.policy.difference import rule_of, unlike_leaves
from icct.policy.edit import renumbered
from icct.policy.gap import largest_gap
from icct.policy.parts import Controller, Leaf, Node, Split
from icct.policy.policy import Policy
from icct.policy.region import Box, end_of


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
    split = policy.nodes[index]
    assert isinstance(split, Split)
    at, f = split.threshold, split.feature
    after = end_of(box[f].above(at), -1)  # the first float above
    here = (*box[:f], replace(box[f], low=at, high=at, low_open=False), *box[f + 1 :])
    below, above = (
        replace(policy, nodes=_with_feature(policy, child, f, value))
        for child, value in ((split.below, at), (split.above, after))
    )
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
                top.point if top.largest > jump.largest else jump.observation,
            )
    return tuple(found)


def _with_feature(policy: Policy, root: int, feature: int, value: float) -> tuple[Node, ...]:
    """Return the tree under a node with one feature replaced by a number."""
    nodes: dict[int, Node] = {}
    waiting = [root]
    while waiting:
        index = waiting.pop()
        node = policy.nodes[index]
        while isinstance(node, Split) and node.feature == feature:
            node = policy.nodes[node.above if value > node.threshold else node.below]
        if isinstance(node, Split):
            waiting += [node.below, node.above]
        else:
            node = Leaf(tuple(_rule_with(rule, feature, value) for rule in node.controllers))
        nodes[index] = node
    return renumbered(nodes, root)


def _rule_with(rule: Controller, feature: int, value: float) -> Controller:
    weights = tuple(pair for pair in rule.weights if pair[0] != feature)
    gone = sum(weight * value for index, weight in rule.weights if index == feature)
    return Controller(weights, rule.bias + gone)
