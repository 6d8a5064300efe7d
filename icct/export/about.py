"""What exported files say about themselves: the policy, its origin and digest, its numbers.

Text comes from policy files and may hold anything printable; each target escapes it in its own way,
after it has been cut to a length that fits a line.
"""

from icct import __version__
from icct.policy import Action, Feature, Policy
from icct.policy.file import policy_digest
from icct.policy.text import describe, number

LONGEST = 120  # characters of a name, unit or sentence in an exported file


def about(policy: Policy) -> tuple[str, ...]:
    """Return sentences on the policy, where it comes from and how to recognise it.

    >>> from icct.zoo import zoo_policy
    >>> about(zoo_policy("ring-cruiser"))[0]
    'ring-cruiser: 3 leaves, depth 2, 11 parameters, 44 features, 1 action'
    """
    written = f"Written by icct {__version__} from the policy file with SHA-256"
    return (*map(shortened, describe(policy).splitlines()), "", written, policy_digest(policy))


def inputs(policy: Policy) -> tuple[str, ...]:
    """Return one line for each number of the observation."""
    return tuple(
        f"observation[{index}]  {_part(feature)}" for index, feature in enumerate(policy.features)
    )


def outputs(policy: Policy) -> tuple[str, ...]:
    """Return one line for each number of the action."""
    return tuple(f"action[{index}]  {_part(action)}" for index, action in enumerate(policy.actions))


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return the text, cut where it is too long for a line.

    >>> shortened("a" * 12, longest=8)
    'aaaaa...'
    """
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _part(part: Feature | Action) -> str:
    """Return a name, the bounds of the number itself, and in physical units where those differ."""
    unit = f", {shortened(part.unit)}" if part.unit else ""
    words = f"{shortened(part.name)}{unit}, from {number(part.low)} to {number(part.high)}"
    if part.scale == 1.0:
        return words
    low, high = number(part.low * part.scale), number(part.high * part.scale)
    return f"{words} ({low} to {high} {shortened(part.physical_unit)}".rstrip() + ")"
