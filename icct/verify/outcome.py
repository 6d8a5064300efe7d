"""What a search for an observation can end in, for one leaf or for the whole tree."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from icct.policy.policy import Policy
from icct.verify.question import Question, float_below

NEARLY = 0.99  # of the largest excess


@dataclass(frozen=True)
class Found:
    """An observation that makes the condition hold, replayed; `excess` is by how much."""

    observation: tuple[float, ...]
    excess: float


@dataclass(frozen=True)
class Impossible:
    """No observation does; the action misses by `margin` or more (None: nothing comes near)."""

    margin: float | None


@dataclass(frozen=True)
class Undecided:
    """The arithmetic cannot tell, and why."""

    why: str


Outcome = Found | Impossible | Undecided


def miss(distance: Fraction, strict: bool) -> Impossible | None:
    """Return that a row which is this far from holding cannot hold; None when it may."""
    if distance > 0 or (distance == 0 and strict):
        return Impossible(float_below(distance)[0])
    return None


def best_found(
    policy: Policy, question: Question, candidates: Iterable[tuple[float, ...]]
) -> Found | None:
    """Return the candidate that answers the question the most when replayed through act().

    The first of those that are nearly as good as the best: candidates come plainest first.
    """
    found = [
        Found(observation, question.excess(policy, observation))
        for observation in candidates
        if question.is_answered_by(policy, observation)
    ]
    enough = NEARLY * max((one.excess for one in found), default=0.0)
    return next((one for one in found if one.excess >= enough), None)
