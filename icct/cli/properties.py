"""Properties that a verb must not break."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icct.policy import Policy


def holding(properties: str) -> "Callable[[Policy], bool]":
    """Return whether a policy has all properties of a file, as a function."""
    from icct.verify import Proved, check, read_properties

    questions = read_properties(properties)
    return lambda policy: all(isinstance(check(policy, q), Proved) for q in questions)
