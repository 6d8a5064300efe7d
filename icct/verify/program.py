"""The questions that one corner cannot answer: rows over several features, several actions.

In a leaf every action lies between two linear functions of the features, widened by rounding, so
each question becomes an exact linear program. No solution of the widened program: impossible. A
solution is only believed when it replays through act(). Where tanh is not linear enough, its range
is halved until one of the two happens.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from icct.policy.parts import squash as squashed
from icct.policy.policy import Policy
from icct.policy.region import Box, Interval, end_of, middle
from icct.policy.rounding import LARGEST, tanh_slack
from icct.verify.linear import Best, Row, maximize
from icct.verify.nearby import found_nearby
from icct.verify.outcome import Impossible, Outcome, Undecided, best_found, miss
from icct.verify.piece import Linear, Piece, Ruled, pieces, ruled
from icct.verify.question import Question, nearest_float

MOST_PIECES = 400  # of one leaf, before a sum of tanh is called undecided
STAND_INS = (1e2, 1e6, 1e12, 1e100, LARGEST)  # for infinite bounds, to find an observation


def solve(policy: Policy, leaf: int, box: Box, question: Question) -> Outcome:
    """Return the answer to any question for the observations of one leaf."""
    node = policy.leaf(leaf)
    if len(question.action_rows) == 1 and (limit := question.action_rows[0].limit):
        own = ruled(policy, limit[0], node.controllers[limit[0]], box)
        return _solve_limit(policy, leaf, own, box, question)
    if impossible := _beyond_limits(policy, question):
        return impossible
    used = sorted({action for row in question.action_rows for action, _ in row.actions})
    rules = [ruled(policy, action, node.controllers[action], box) for action in used]
    waiting = list(product(*(pieces(policy, own) for own in rules)))
    margins: list[float] = []
    undecided, near, tried = None, [], 0
    while waiting:
        chosen, tried = waiting.pop(), tried + 1
        outcome = _solve_pieces(box, question, chosen)
        if isinstance(outcome, Impossible):
            margins += [] if outcome.margin is None else [outcome.margin]
            continue
        candidates = list(outcome)
        found = best_found(policy, question, candidates)
        if found is not None:
            return found
        widest = max(chosen, key=lambda piece: piece.width, default=None)
        if widest is None or widest.width == 0.0 or tried + len(waiting) >= MOST_PIECES:
            undecided = _undecided(leaf, rules)
            near += candidates[:2]
            continue
        for half in widest.halves():
            waiting.append(tuple(half if piece is widest else piece for piece in chosen))
    if undecided is None:
        return Impossible(min(margins, default=None))
    return found_nearby(policy, question, box, near) or undecided


def _undecided(leaf: int, rules: Sequence[Ruled]) -> Undecided:
    why = "an observation exists in exact arithmetic, but none in float64 was found"
    for own in rules:
        if not own.is_bounded:
            why = (
                f"{own.action.name} overflows or looks at a feature without bounds, so its "
                "rounding has none; declare narrower bounds to decide this"
            )
    return Undecided(f"in leaf {leaf}, {why}")


def _beyond_limits(policy: Policy, question: Question) -> Impossible | None:
    """Return that a squashed action cannot get beyond its own limits, where one is asked to."""
    for row in question.action_rows:
        if policy.squash != "none" and row.limit is not None:
            index, way, edge = row.limit
            end = policy.actions[index].high if way > 0 else policy.actions[index].low
            if math.isfinite(end):
                missed = miss(way * (edge - Fraction(end)), row.features.strict)
                if missed is not None:
                    return missed
    return None


def _solve_limit(policy: Policy, leaf: int, own: Ruled, box: Box, question: Question) -> Outcome:
    """Return whether one action gets beyond a limit: by the extreme of its rule over the rows."""
    (row,) = question.action_rows
    assert row.limit is not None
    _, way, edge = row.limit
    climb = {feature: way * weight for feature, weight in own.exact.weights.items()}
    best = maximize(climb, question.rows, box)
    if best is None:
        return Impossible(None)
    action, end = own.action, own.high if way > 0 else own.low
    if best.value is not None and (math.isfinite(end) or policy.squash == "none"):
        farthest = own.exact.constant + way * (best.value + own.rounding)
        by_rows = math.nextafter(nearest_float(farthest), way * math.inf)
        end = min(end, by_rows) if way > 0 else max(end, by_rows)
    bound = float(squashed(end, action, policy.squash))
    if policy.squash == "tanh":
        room = abs(action.centre + way * action.half_range - bound)
        bound += way * min(tanh_slack(action, own.low, own.high), room)
    if math.isfinite(bound):
        missed = miss(way * (edge - Fraction(bound)), row.features.strict)
        if missed is not None:
            return missed
    candidates = list(_observations(climb, question.rows, (), box, best))
    found = best_found(policy, question, candidates) or found_nearby(
        policy, question, box, candidates
    )
    if found is not None:
        return found
    if not own.is_bounded:
        return _undecided(leaf, [own])
    why = f"{action.name} may come to {bound:.17g}, too near to the limit for float64"
    return Undecided(f"in leaf {leaf}, {why}")


def _solve_pieces(
    box: Box, question: Question, chosen: tuple[Piece, ...]
) -> Impossible | Iterator[tuple[float, ...]]:
    """Return that nothing answers where every action keeps to its piece, or what may answer."""
    within = [row for piece in chosen for row in piece.rows()]
    relaxed = [_relaxed(row.features, row.actions, chosen) for row in question.action_rows]
    *others, last = relaxed or [Row({}, Fraction(-1))]
    rows = [*question.rows, *others]
    climb = {feature: -weight for feature, weight in last.weights.items()}
    best = maximize(climb, [*rows, *within], box)
    if best is None:
        return Impossible(None)
    if best.value is not None:
        missed = miss(last.constant - best.value, last.strict)
        if missed is not None:
            return missed
    return _observations(climb, [*rows, last], within, box, best)


def _relaxed(row: Row, actions: tuple[tuple[int, Fraction], ...], chosen: tuple[Piece, ...]) -> Row:
    """Return a row over features alone that holds whenever the row over actions does."""
    total = Linear(row.weights, row.constant)
    by_action = {piece.ruled.index: piece for piece in chosen}
    for action, weight in actions:
        piece = by_action[action]
        total = total.plus(piece.least if weight > 0 else piece.most, weight)
    return Row(total.weights, total.constant, row.strict)


def _observations(
    climb: Mapping[int, Fraction],
    rows: Sequence[Row],
    within: Sequence[Row],
    box: Box,
    best: Best,
) -> Iterator[tuple[float, ...]]:
    """Yield float64 observations near the best solution: off the rows first, then on them."""
    inner = [*(Row(row.weights, row.constant, strict=True) for row in rows), *within]
    for ends in _finite_boxes(box):
        solution = maximize(climb, inner, ends)
        for point in solution.points() if solution is not None else ():
            yield _rounded(point, ends)
    for point in best.points():
        yield _rounded(point, box)


def _finite_boxes(box: Box) -> Iterator[Box]:
    if all(math.isfinite(i.low) and math.isfinite(i.high) for i in box):
        yield box
        return
    for far in STAND_INS:
        yield tuple(i.intersect(Interval(min(-far, i.high), max(far, i.low))) for i in box)


def _rounded(point: Mapping[int, Fraction], box: Box) -> tuple[float, ...]:
    """Return the float64 observation nearest to a point that is still inside the box."""
    values = [middle(interval) for interval in box]
    for feature, value in point.items():
        low, high = end_of(box[feature], -1), end_of(box[feature], 1)
        values[feature] = min(max(nearest_float(value), low), high)
    return tuple(values)
