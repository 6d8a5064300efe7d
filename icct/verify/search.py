"""Is there an observation that makes a condition hold? Leaf by leaf: found, impossible, undecided.

Over a box with limits on one action a leaf is decided by its corners, so a tree takes linear time.
Conditions over several features become a small exact linear program per leaf.
"""

from collections.abc import Iterator
from itertools import permutations

from icct.policy.parts import Split
from icct.policy.policy import Policy
from icct.policy.region import Box, halves, middle, near_zero
from icct.verify.band import solve_band
from icct.verify.condition import Condition
from icct.verify.grid import on_grid
from icct.verify.outcome import Found, Impossible, Outcome, Undecided, best_found, miss
from icct.verify.program import solve
from icct.verify.question import Question, questions
from icct.verify.walk import few_observations


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
    outcome = _answer(policy, leaf, box, question)
    if isinstance(outcome, Undecided):
        snapped = on_grid(policy, leaf, box, question)
        if snapped and isinstance(_answer(policy, leaf, box, snapped), Impossible):
            return Impossible(0.0)  # by more than that from the grid, but not from the limits
    return outcome


def _answer(policy: Policy, leaf: int, box: Box, question: Question) -> Outcome:
    if (contradiction := _contradiction(question)) is not None:
        return contradiction
    few = few_observations(box, _features(policy, leaf, question))
    if few is not None:
        return _one_by_one(policy, question, few)
    limits = [row.limit for row in question.action_rows]
    acting = {limit[0] for limit in limits if limit is not None}
    if question.rows or None in limits or len(acting) > 1:
        return solve(policy, leaf, box, question)
    if not acting:  # any observation of the box will do, unless act() refuses it
        found = best_found(policy, question, [tuple(map(middle, box)), tuple(map(near_zero, box))])
        return found or Undecided(f"in leaf {leaf}, rules overflow and act() refuses to act")
    return solve_band(policy, leaf, box, question, *acting)


def _contradiction(question: Question) -> Impossible | None:
    """Return that limits contradict each other, if they do; every action misses one of them."""
    for one, other in permutations(question.action_rows, 2):
        if one.limit and other.limit and one.limit[0] == other.limit[0]:
            (_, up, low), (_, down, high) = one.limit, other.limit
            strict = one.features.strict or other.features.strict
            if up > 0 > down and (missed := miss((low - high) / 2, strict)) is not None:
                return missed
    return None


def _features(policy: Policy, leaf: int, question: Question) -> set[int]:
    """Return the features that an answer in a leaf depends on."""
    node = policy.leaf(leaf)
    rows = (*question.rows, *(row.features for row in question.action_rows))
    used = {feature for row in rows for feature in row.weights}
    return used.union(*({f for f, _ in rule.weights} for rule in node.controllers))


def _one_by_one(policy: Policy, question: Question, few: list[tuple[float, ...]]) -> Outcome:
    """Return the answer for all observations there are."""
    found = best_found(policy, question, few)
    if found is not None:
        return found
    missed = (question.missed_by(policy, observation) for observation in few)
    return Impossible(min((margin for margin in missed if margin is not None), default=None))
