"""Actions that only take values on a grid, because the floats that they are made of are far apart.

A float of at least m is a multiple of the unit of m's last place, a power of two; so is a rounded
sum of such floats. A limit between two grid points can as well lie on the next one.
"""

import math
from dataclasses import replace
from fractions import Fraction

from icct.policy.parts import Controller
from icct.policy.policy import Policy
from icct.policy.region import Box
from icct.policy.rounding import LARGEST, range_of
from icct.verify.question import ActionRow, Question


def on_grid(policy: Policy, leaf: int, box: Box, question: Question) -> Question | None:
    """Return a question with the same answers, its limits on grid points; None when they are."""
    if policy.squash == "tanh":
        return None
    rows = tuple(_snapped(policy, leaf, box, row) for row in question.action_rows)
    return None if rows == question.action_rows else replace(question, action_rows=rows)


def _snapped(policy: Policy, leaf: int, box: Box, row: ActionRow) -> ActionRow:
    node = policy.leaf(leaf)
    if row.limit is None:
        return row
    index, way, edge = row.limit
    grid, action = grid_of(node.controllers[index], box), policy.actions[index]
    if not 0 < grid < math.inf:
        return row
    steps = way * edge / Fraction(grid)
    beyond = math.floor(steps) + 1 if row.features.strict else math.ceil(steps)
    reached = [beyond * Fraction(grid)]
    if policy.squash == "clip":  # the limits of the action need not be on the grid
        ends = (way * Fraction(e) for e in (action.low, action.high) if math.isfinite(e))
        strict = row.features.strict
        reached += [end for end in ends if end > way * edge or (end == way * edge and not strict)]
    nearest = way * min(reached)
    if nearest == edge:
        return row
    ((_, weight),) = row.actions
    features = replace(row.features, constant=-nearest * weight, strict=False)
    return replace(row, features=features)


def grid_of(rule: Controller, box: Box) -> float:
    """Return a power of two that divides every finite value that a rule computes over a box.

    >>> from icct.policy.region import Interval
    >>> grid_of(Controller(((0, 1.0), (1, -1.0)), bias=0.5), (Interval(1e17, 2e17),) * 2)
    16.0
    """
    grid = _lowest_bit(rule.bias)
    for count, (feature, weight) in enumerate(rule.weights, start=1):
        if weight:
            product = Controller(((feature, weight),))
            so_far = Controller(rule.weights[:count], rule.bias)
            grid = min(grid, _spacing(product, box))
            grid = max(grid, _spacing(so_far, box))
    return grid


def _spacing(rule: Controller, box: Box) -> float:
    """Return the distance of floats as small as the smallest value of a rule."""
    low, high = range_of(rule, box)
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high), LARGEST)
    return math.ulp(nearest)


def _lowest_bit(number: float) -> float:
    """Return the largest power of two that divides a number; inf for 0."""
    if not number:
        return math.inf
    over, under = number.as_integer_ratio()
    return float(Fraction(over & -over, under))
