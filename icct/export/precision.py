"""Numbers in the precision of the target; a policy that does not fit it is refused.

Rounding a threshold must not move an observation to its other side.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from icct.errors import ExportError
from icct.export.about import shortened
from icct.policy import Policy, Split

Precision = Literal["double", "float"]
PRECISIONS: tuple[Precision, ...] = ("double", "float")


def check_precision(policy: Policy, precision: Precision) -> None:
    """Refuse a precision that is not known, or too small for one of the policy's numbers."""
    if precision not in PRECISIONS:
        raise ExportError(f"precision is {precision!r}, expected one of {', '.join(PRECISIONS)}.")
    if precision == "double":
        return
    largest = float(np.finfo(np.float32).max)
    for where, value in _numbers(policy):
        if largest < abs(value) < np.inf:
            raise ExportError(
                f"{shortened(policy.name)}: {where} has the number {value:g}, which no float holds "
                "(at most 3.4e38). Export with precision double."
            )


def threshold(value: float, precision: Precision) -> float:
    """Return the threshold in the target's precision, rounded down.

    A float is above a number exactly when it is above the largest float that is not above it, so
    every float observation takes the same side as with the threshold in full.

    >>> threshold(0.1, "float") < 0.1 < float(np.nextafter(np.float32(0.1), np.float32(1)))
    True
    """
    if precision == "double":
        return value
    rounded = np.float32(value)
    if float(rounded) > value:
        rounded = np.nextafter(rounded, np.float32(-np.inf))
    return float(rounded)


def literal(value: float, precision: Precision) -> str:
    """Return the shortest text of a number that reads back as the same number.

    >>> literal(0.1, "double"), literal(0.1, "float"), literal(3.0, "float"), literal(1e22, "float")
    ('0.1', '0.1f', '3.0f', '1e+22f')
    """
    if precision == "double":
        return repr(float(value))
    return f"{np.float32(value)!s}f"


def _numbers(policy: Policy) -> Iterator[tuple[str, float]]:
    for index, node in enumerate(policy.nodes):
        if isinstance(node, Split):
            yield f"node {index}", node.threshold
            continue
        for rule in node.controllers:
            yield from ((f"node {index}", weight) for _, weight in rule.weights)
            yield f"node {index}", rule.bias
    for index, action in enumerate(policy.actions):
        yield f"action {index}", action.low
        yield f"action {index}", action.high
