"""What float64 makes of a linear rule over a box: the values it computes, and how exact they are.

Rounding keeps order: fl(w x) rises with x and fl(a + b) with a and b. So the range of computed
values is known to the last bit, without error analysis. What is left to bound is how far a computed
value is from the exact one, wherever exact arithmetic is used to reason about it.
"""

import math
import sys

from icct.policy.parts import Action, Controller
from icct.policy.region import Box, end_of

UNIT = 2.0**-53  # a float64 result errs by at most this share of itself
SMALLEST = math.ulp(0.0)  # or, when it underflows, by at most half of this
LARGEST = sys.float_info.max
ROUNDED_UP = 1 + 2.0**-20  # more than what rounds a bound that is itself computed in float64
# What float64 tanh may err by: implementations stay within 4 units of the last place of the true
# value, so two of them, or one at two points, fall by at most 8 where it should rise; scaling and
# shifting the result rounds twice more on either side.
TANH_SLACK = 12 * UNIT
SATURATED = 22.0  # from here on float64 tanh is ±1


def range_of(controller: Controller, box: Box) -> tuple[float, float]:
    """Return the smallest and the largest value that a controller computes over a box.

    Exact for float64, because rounding keeps order; infinite where the sum overflows or the box has
    no bounds. Without any value, because all sums are NaN there, the first is inf, the second -inf.
    """
    return _end_of_value(controller, box, -1), _end_of_value(controller, box, 1)


def _end_of_value(controller: Controller, box: Box, way: int) -> float:
    total = controller.bias
    for index, weight in controller.weights:
        if weight == 0.0:  # 0 times an infinite bound would be NaN; act() sees finite numbers only
            continue
        total += weight * end_of(box[index], way if weight > 0 else -way)
        if math.isnan(total):  # one of the two is infinite throughout: the other end, or no value
            total = -way * math.inf
    return total


def rounding_of(controller: Controller, box: Box) -> float:
    """Return how far the computed value of a controller can be from the exact one, where finite.

    A product errs by half a unit of its last place, or of the smallest float's; a sum by half a
    unit of its last place. A finite value has no infinite term, which bounds them in any box.
    """
    size, error = abs(controller.bias), 0.0
    for index, weight in controller.weights:
        if weight == 0.0:
            continue
        product = min(abs(weight) * max(abs(box[index].low), abs(box[index].high)), LARGEST)
        error += UNIT * product + SMALLEST
        if size:  # 0 plus a product is exact
            error += UNIT * min(size + product, LARGEST) + SMALLEST
        size = min(size + product + SMALLEST, LARGEST)
    return error * ROUNDED_UP


def tanh_slack(action: Action, low: float = -math.inf, high: float = math.inf) -> float:
    """Return how far float64 tanh can put an action from where order would have it.

    Nowhere else, when the values from low to high are one, or all of them saturate.
    """
    if low == high or low >= SATURATED or high <= -SATURATED:
        return 0.0
    return TANH_SLACK * (abs(action.half_range) + abs(action.centre)) + 2 * SMALLEST


def difference_above(one: float, other: float) -> float:
    """Return one number less another, rounded up; inf where float64 has no such number.

    >>> difference_above(1.0, -1e-30), difference_above(math.inf, math.inf)
    (1.0000000000000002, inf)
    """
    apart = one - other
    if not math.isfinite(apart):
        return math.inf
    part = apart - one  # Knuth's two-sum: what `apart` lacks is a float
    lacks = (one - (apart - part)) - (other + part)
    return apart if lacks <= 0 else math.nextafter(apart, math.inf)
