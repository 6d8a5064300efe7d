"""Condition × values → by how much it holds: positive where it does, negative where it does not.

A comparison's margin is the distance of its two sides, of `and` the least, of `or` the largest.
Whatever speaks of time alone has no margin: it holds or it does not. Floats, so nothing is proved.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from icct.plant.question import TIME, Question
from icct.verify.condition import AllOf, Comparison, Condition, negated


def margin(condition: Condition, values: Mapping[str, Any]) -> Any:
    """Return by how much a condition holds for values, or arrays of them, given by name.

    >>> from icct.verify.property import Property
    >>> float(margin(Property("abs(x) <= 1").conclusion, {"x": 0.75}))
    0.25
    """
    if isinstance(condition, Comparison):
        weights = condition.expression.weights
        total = float(condition.expression.constant) + sum(
            float(weight) * np.asarray(values[name]) for name, weight in weights
        )
        if weights and all(name == TIME for name, _ in weights):
            holds = total < 0 if condition.strict else total <= 0
            return np.where(holds, np.inf, -np.inf)
        return -np.asarray(total)
    of_parts = [margin(part, values) for part in condition.parts]
    pairwise = np.minimum if isinstance(condition, AllOf) else np.maximum
    result = of_parts[0]
    for other in of_parts[1:]:
        result = pairwise(result, other)
    return result


def violation(question: Question) -> Condition:
    """Return what must not hold at any moment (always, never), or not at all of them (reach)."""
    if question.kind == "never":
        return negated(question.condition.violation)
    return question.condition.violation


def exactly(values: Mapping[str, float]) -> dict[str, Fraction]:
    """Return values as the fractions that they are."""
    return {name: Fraction(value) for name, value in values.items()}
