"""Which branches nobody reaches: no observation inside the bounds, or no step of any episode."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal

from icct.policy.parts import Split
from icct.policy.region import is_empty, node_regions
from icct.policy.words import counted

if TYPE_CHECKING:
    from icct.policy.policy import Policy

Why = Literal["no observation", "no episode"]


def unreached(policy: "Policy", visits: Mapping[int, int] | None = None) -> dict[int, Why]:
    """Return node → why nobody gets there, for every node of an unreached branch.

    Args:
        policy: The policy.
        visits: Leaf → steps in which it acted, where episodes were played.

    >>> from icct.zoo import zoo_policy
    >>> unreached(zoo_policy("ring-cruiser"), {1: 3, 3: 1, 4: 0})
    {4: 'no episode'}
    """
    found: dict[int, Why] = {}
    used = _uses(policy, visits) if visits and any(visits.values()) else None
    for index, box in node_regions(policy):
        if is_empty(box):
            found[index] = "no observation"
        elif used is not None and not used[index]:
            found[index] = "no episode"
    return found


def folds(
    policy: "Policy", unreached: Mapping[int, Why], path: Collection[int] = ()
) -> dict[int, str]:
    """Return where unreached branches begin → what is written in their place.

    A branch on the path stays open: an observation outside the bounds can get there.

    >>> from icct.zoo import zoo_policy
    >>> folds(zoo_policy("ring-cruiser"), {2: "no episode", 3: "no episode", 4: "no episode"})
    {2: '2 leaves that no episode reaches'}
    """
    found: dict[int, str] = {}
    waiting = [0]
    while waiting:
        index = waiting.pop()
        node = policy.nodes[index]
        if index in unreached and index not in path:
            leaves = _leaves_under(policy, index)
            count = counted(leaves, "leaf", "leaves")
            found[index] = f"{count} that {unreached[index]} reaches"
        elif isinstance(node, Split):
            waiting += [node.above, node.below]
    return found


def _uses(policy: "Policy", visits: Mapping[int, int]) -> dict[int, int]:
    """Return node → steps that passed it."""
    used: dict[int, int] = {}
    for _, index in reversed(list(policy.levels())):
        node = policy.nodes[index]
        if isinstance(node, Split):
            used[index] = used[node.below] + used[node.above]
        else:
            used[index] = visits.get(index, 0)
    return used


def _leaves_under(policy: "Policy", index: int) -> int:
    node = policy.nodes[index]
    if not isinstance(node, Split):
        return 1
    return _leaves_under(policy, node.below) + _leaves_under(policy, node.above)
