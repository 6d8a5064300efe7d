"""The questions that one corner cannot answer: rows over several features, several actions.

In a leaf every action lies between two linear functions of the features (`Piece`), widened by the
rounding of float64, so each question becomes an exact linear program. No solution of the widened
program: impossible. A solution is only believed when it replays through act(). Where tanh of a sum
matters as a number, its range is halved until one of the two happens.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from icct.policy.parts import Action, Controller, Leaf, Squash
from icct.policy.parts import squash as squashed
from icct.policy.policy import Policy
from icct.policy.region import Box, Interval, end_of, middle, range_of, rounding_of
from icct.verify.extreme import tanh_slack
from icct.verify.linear import Best, Row, maximize
from icct.verify.outcome import Found, Impossible, Outcome, Undecided, first_found, miss
from icct.verify.question import Question

MOST_PIECES = 400  # of one leaf, before a sum of tanh is called undecided
STAND_INS = (1e2, 1e6, 1e12)  # for infinite bounds, to find an observation


@dataclass(frozen=True)
class Linear:
    """A linear function of the features."""

    weights: Mapping[int, Fraction]
    constant: Fraction

    def plus(self, other: "Linear", factor: Fraction) -> "Linear":
        """Return this function plus a multiple of another."""
        weights = dict(self.weights)
        for feature, weight in other.weights.items():
            weights[feature] = weights.get(feature, Fraction(0)) + factor * weight
        return Linear(weights, self.constant + factor * other.constant)

    def shifted(self, amount: Fraction) -> "Linear":
        """Return this function plus a number."""
        return Linear(self.weights, self.constant + amount)


@dataclass(frozen=True)
class Piece:
    """Where `low <= rule <= high`, the action lies between `least` and `most`."""

    action: int
    low: float
    high: float
    least: Linear
    most: Linear
    can_halve: bool = False


def solve(policy: Policy, leaf: int, box: Box, question: Question) -> Outcome:
    """Return the answer to any question for the observations of one leaf."""
    node = policy.nodes[leaf]
    assert isinstance(node, Leaf)
    if len(question.action_rows) == 1 and (limit := question.action_rows[0].limit):
        return _solve_limit(policy, leaf, node.controllers[limit[0]], box, question)
    if impossible := _beyond_limits(policy, question):
        return impossible
    used = sorted({action for row in question.action_rows for action, _ in row.actions})
    rules = {action: node.controllers[action] for action in used}
    waiting = list(product(*(_pieces(policy, a, rules[a], box) for a in used)))
    margins, tried, undecided = [], 0, None
    while waiting:
        pieces, tried = waiting.pop(), tried + 1
        outcome, found = _solve_pieces(policy, box, question, rules, pieces)
        if found is not None:
            return found
        if isinstance(outcome, Impossible):
            margins += [] if outcome.margin is None else [outcome.margin]
            continue
        widest = max((p for p in pieces if p.can_halve), key=_width, default=None)
        if widest is None or tried + len(waiting) >= MOST_PIECES:
            undecided = Undecided(f"in leaf {leaf}, {outcome.why}")
            continue
        for half in _halves(policy, widest):
            waiting.append(tuple(half if p is widest else p for p in pieces))
    if undecided is not None:
        return undecided
    for index in used:
        if not is_bounded(rules[index], box) and maximize({}, question.rows, box):
            return _without_bounds(leaf, policy.actions[index])
    return Impossible(min(margins, default=None))


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


def _solve_limit(
    policy: Policy, leaf: int, rule: Controller, box: Box, question: Question
) -> Outcome:
    """Return whether one action gets beyond a limit: by the extreme of its rule over the rows."""
    (row,) = question.action_rows
    assert row.limit is not None
    index, way, edge = row.limit
    climb = {f: way * Fraction(w) for f, w in rule.weights if w}
    best = maximize(climb, question.rows, box)
    if best is None:
        return Impossible(None)
    action, end = policy.actions[index], way * math.inf
    if best.value is not None and is_bounded(rule, box):
        farthest = Fraction(rule.bias) + way * (best.value + Fraction(rounding_of(rule, box)))
        end = math.nextafter(float(farthest), end)
    bound = float(squashed(end, action, policy.squash))
    if policy.squash == "tanh":
        room = abs(action.centre + way * action.half_range - bound)
        bound += way * min(tanh_slack(action), room)
    if math.isfinite(bound):
        missed = miss(way * (edge - Fraction(bound)), row.features.strict)
        if missed is not None:
            return missed
    found = first_found(policy, question, _observations(climb, question.rows, (), box, best))
    if found is not None:
        return found
    if is_bounded(rule, box):
        why = f"{action.name} may come to {bound:.17g}, too near to the limit for float64"
        return Undecided(f"in leaf {leaf}, {why}")
    return _without_bounds(leaf, action)


def _solve_pieces(
    policy: Policy,
    box: Box,
    question: Question,
    rules: Mapping[int, Controller],
    pieces: tuple[Piece, ...],
) -> tuple[Impossible | Undecided, Found | None]:
    """Return the outcome where every action keeps to its piece, and an observation that replays."""
    within = [row for piece in pieces for row in _rows_of(piece, rules[piece.action], box)]
    relaxed = [_relaxed(row.features, row.actions, pieces) for row in question.action_rows]
    *others, last = relaxed or [Row({}, Fraction(-1))]
    rows = [*question.rows, *others]
    climb = {feature: -weight for feature, weight in last.weights.items()}
    best = maximize(climb, [*rows, *within], box)
    if best is None:
        return Impossible(None), None
    if best.value is not None:
        missed = miss(last.constant - best.value, last.strict)
        if missed is not None:
            return missed, None
    candidates = _observations(climb, [*rows, last], within, box, best)
    why = "an observation exists in exact arithmetic, but none in float64 was found"
    return Undecided(why), first_found(policy, question, candidates)


def _relaxed(row: Row, actions: tuple[tuple[int, Fraction], ...], pieces: tuple[Piece, ...]) -> Row:
    """Return a row over features alone that holds whenever the row over actions does."""
    total = Linear(row.weights, row.constant)
    by_action = {piece.action: piece for piece in pieces}
    for action, weight in actions:
        piece = by_action[action]
        total = total.plus(piece.least if weight > 0 else piece.most, weight)
    return Row(total.weights, total.constant, row.strict)


def _pieces(policy: Policy, index: int, rule: Controller, box: Box) -> list[Piece]:
    """Return the pieces that the range of a rule over a box needs."""
    low, high = range_of(rule, box)
    action = policy.actions[index]
    if policy.squash == "tanh":
        return [_tanh_piece(index, action, low, high)]
    exact = Linear({f: Fraction(w) for f, w in rule.weights if w}, Fraction(rule.bias))
    slack = Fraction(rounding_of(rule, box))
    middle = Piece(index, low, high, exact.shifted(-slack), exact.shifted(slack))
    if policy.squash == "none":
        return [middle]
    pieces = []
    if low <= action.low:
        least = Linear({}, Fraction(action.low))
        pieces.append(Piece(index, low, action.low, least, least))
    if high >= action.high:
        most = Linear({}, Fraction(action.high))
        pieces.append(Piece(index, action.high, high, most, most))
    low, high = max(low, action.low), min(high, action.high)
    if low <= high:
        pieces.append(Piece(index, low, high, middle.least, middle.most))
    return pieces


def _tanh_piece(index: int, action: Action, low: float, high: float) -> Piece:
    kind: Squash = "tanh"
    slack = tanh_slack(action)
    least = Fraction(max(float(squashed(low, action, kind)) - slack, action.low))
    most = Fraction(min(float(squashed(high, action, kind)) + slack, action.high))
    return Piece(index, low, high, Linear({}, least), Linear({}, most), can_halve=True)


def _halves(policy: Policy, piece: Piece) -> tuple[Piece, Piece]:
    """Return two pieces that share the range; an infinite one is first cut where tanh is ±1."""
    low, high = max(piece.low, -20.0), min(piece.high, 20.0)
    middle = min(max(low + (high - low) / 2, piece.low), piece.high)
    action = policy.actions[piece.action]
    return (
        _tanh_piece(piece.action, action, piece.low, middle),
        _tanh_piece(piece.action, action, middle, piece.high),
    )


def is_bounded(rule: Controller, box: Box) -> bool:
    """Return whether a rule has a finite range over a box; else its rounding has no bound."""
    return all(map(math.isfinite, range_of(rule, box)))


def _without_bounds(leaf: int, action: Action) -> Undecided:
    return Undecided(
        f"in leaf {leaf}, {action.name} looks at a feature without bounds, so its rounding has "
        "none; declare bounds to decide this"
    )


def _width(piece: Piece) -> Fraction:
    return piece.most.constant - piece.least.constant


def _rows_of(piece: Piece, rule: Controller, box: Box) -> Iterator[Row]:
    """Yield the rows that keep a rule within its piece, widened by the rule's rounding."""
    slack = Fraction(rounding_of(rule, box))
    weights = {f: Fraction(w) for f, w in rule.weights if w}
    bias = Fraction(rule.bias)
    if math.isfinite(piece.high):
        yield Row(weights, bias - Fraction(piece.high) - slack)
    if math.isfinite(piece.low):
        yield Row({f: -w for f, w in weights.items()}, Fraction(piece.low) - slack - bias)


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
        values[feature] = float(min(max(value, _exact(low)), _exact(high)))
    return tuple(values)


def _exact(end: float) -> Fraction | float:
    return Fraction(end) if math.isfinite(end) else end
