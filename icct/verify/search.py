"""Is there an observation that makes a condition hold? Leaf by leaf: found, impossible, undecided.

Over a box with one condition on one action a leaf is decided by one corner, so a tree takes linear
time. Conditions over several features become a small exact linear program per leaf.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from icct.policy.parts import Split
from icct.policy.policy import Policy
from icct.policy.region import Box, halves, middle
from icct.verify.condition import Condition
from icct.verify.extreme import extreme, observations_at
from icct.verify.outcome import Found, Impossible, Outcome, Undecided, best_found, miss
from icct.verify.program import solve
from icct.verify.question import Question, questions


def search(policy: Policy, condition: Condition) -> Outcome:
    """Return the observation that makes the condition hold the most, or that there is none."""
    best: Found | None = None
    undecided: Undecided | None = None
    margin: float | None = None
    for outcome in outcomes(policy, condition):
        if isinstance(outcome, Found):
            best = outcome if best is None or outcome.excess > best.excess else best
        elif isinstance(outcome, Undecided):
            undecided = undecided or outcome
        elif outcome.margin is not None:
            margin = outcome.margin if margin is None else min(margin, outcome.margin)
    return best or undecided or Impossible(margin)


def outcomes(policy: Policy, condition: Condition) -> Iterator[Outcome]:
    """Yield the outcome of every case of the condition in every leaf that it reaches."""
    for question in questions(policy, condition):
        for leaf, box in leaves_in(policy, question.box):
            yield ask(policy, leaf, box, question)


def leaves_in(policy: Policy, box: Box) -> Iterator[tuple[int, Box]]:
    """Yield the leaves that something in a box reaches, each with its part of the box."""
    waiting = [(0, box)]
    while waiting:
        index, here = waiting.pop()
        node = policy.nodes[index]
        if not isinstance(node, Split):
            yield index, here
            continue
        below, above = halves(here, node)
        if not above[node.feature].is_empty:
            waiting.append((node.above, above))
        if not below[node.feature].is_empty:
            waiting.append((node.below, below))


def ask(policy: Policy, leaf: int, box: Box, question: Question) -> Outcome:
    """Return the answer to a question for the observations of one leaf."""
    if question.rows or len(question.action_rows) > 1:
        return solve(policy, leaf, box, question)
    if not question.action_rows:  # any observation of the box will do
        return Found(tuple(map(middle, box)), 0.0)
    limit = question.action_rows[0].limit
    if limit is None:
        return solve(policy, leaf, box, question)
    return _at_corner(policy, leaf, box, question, *limit)


def _at_corner(
    policy: Policy, leaf: int, box: Box, question: Question, action: int, way: int, edge: Fraction
) -> Outcome:
    """Return whether the action of a leaf gets beyond an edge, by its extreme over the box."""
    end = extreme(policy, leaf, action, box, way)
    bound = end.value + way * end.slack
    if math.isfinite(bound):
        missed = miss(way * (edge - Fraction(bound)), question.action_rows[0].features.strict)
        if missed is not None:
            return missed
    found = best_found(policy, question, observations_at(end.corner, box))
    if found is not None:
        return found
    name = policy.actions[action].name
    return Undecided(
        f"in leaf {leaf}, {name} comes to {end.value:.17g}, too near to the limit for float64"
        if math.isfinite(end.value)
        else f"in leaf {leaf}, {name} overflows where the features have no bounds"
    )
