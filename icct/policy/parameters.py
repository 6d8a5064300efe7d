"""How many active parameters a deployed controller has, by the formulas of the paper's section V-A.

The count is a measure of size, for comparison with the paper's Table 1; nothing depends on it.
"""

from collections.abc import Sequence
from itertools import pairwise

from icct.errors import ConfigError, did_you_mean

SPLIT_PARAMETERS = 3  # the paper counts weight, bias and sharpness of a decision node
IMPORTED_SPLIT_PARAMETERS = 2  # feature and threshold of a node made by CART

STATIC = ("icct-static", "cddt-crisp")
SPARSE = {f"icct-{active}-feature": active for active in range(1, 8)}
COMPLETE = ("icct-complete", "icct-l1-sparse", "cddt-controllers-crisp")
FUZZY = {"cddt": False, "cddt-controllers": True}  # with linear controllers or without
IMITATED = ("dt", "dt-dagger")
PERCEPTRONS = ("mlp-max", "mlp-upper", "mlp-lower")
COUNTED_METHODS = (*STATIC, *SPARSE, *COMPLETE, *FUZZY, *IMITATED, *PERCEPTRONS)


def controller_parameters(active: int, features: int) -> int:
    """Return the paper's count for one linear rule with `active` of `features` weights.

    A sparse rule counts a weight and a bias for each feature and one standard deviation, 2e + 1;
    a rule over all features counts m weights and one bias, m + 1.

    >>> [controller_parameters(active, features=4) for active in range(5)]
    [1, 3, 5, 7, 5]
    """
    return features + 1 if active == features else 2 * active + 1


def parameter_count(
    method: str,
    *,
    observation_size: int,
    action_size: int,
    leaves: int = 0,
    hidden: Sequence[int] = (),
) -> int:
    """Return the number of active parameters of a method as the paper's Table 1 counts them.

    >>> parameter_count("icct-2-feature", leaves=8, observation_size=8, action_size=2)
    101
    >>> parameter_count("mlp-max", hidden=(256, 256), observation_size=4, action_size=1)
    67329
    """
    if method not in COUNTED_METHODS:
        raise ConfigError(
            f"There is no parameter count for method {method!r}; known are "
            f"{', '.join(COUNTED_METHODS)}.{did_you_mean(method, COUNTED_METHODS)}"
        )
    if method in PERCEPTRONS:
        sizes = [observation_size, *hidden, action_size]
        return sum((before + 1) * after for before, after in pairwise(sizes))
    if leaves < 2:
        raise ConfigError(f"Method {method!r} is a tree: leaves is {leaves}, expected at least 2.")
    if method in IMITATED:
        return IMPORTED_SPLIT_PARAMETERS * (leaves - 1) + action_size * leaves
    if method in FUZZY:
        rule = observation_size + 1 if FUZZY[method] else 1
        return (observation_size + 2) * (leaves - 1) + rule * action_size * leaves
    active = observation_size if method in COMPLETE else SPARSE.get(method, 0)
    rule = controller_parameters(active, observation_size)
    return SPLIT_PARAMETERS * (leaves - 1) + rule * action_size * leaves
