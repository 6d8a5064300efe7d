"""How often each leaf acts, as the drawings show it: shares, words and shades of red."""

from collections.abc import Mapping

from icct.policy.policy import Policy

DEEPEST_RED = (240, 131, 122)


def leaf_shares(policy: Policy, visits: Mapping[int, int] | None) -> dict[int, float]:
    """Return leaf → its share of all steps; empty when nothing was counted.

    >>> from icct.zoo import zoo_policy
    >>> leaf_shares(zoo_policy("ring-cruiser"), {1: 3, 3: 1})
    {1: 0.75, 3: 0.25, 4: 0.0}
    """
    total = sum(visits.values()) if visits else 0
    if not visits or not total:
        return {}
    return {leaf: visits.get(leaf, 0) / total for leaf in policy.leaves}


def share_text(share: float) -> str:
    """Return a share in words.

    >>> share_text(0.1234)
    '12.3 % of steps'
    """
    return f"{100 * share:.1f} % of steps"


def share_colour(share: float) -> str:
    """Return a red that deepens with use; a leaf that never acts is white.

    >>> share_colour(0.0), share_colour(1.0)
    ('#ffffff', '#f0837a')
    """
    strength = share**0.5  # the root tells small shares apart
    return "#" + "".join(f"{round(255 + (red - 255) * strength):02x}" for red in DEEPEST_RED)
