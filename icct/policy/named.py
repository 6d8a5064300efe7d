"""An observation by name → the numbers in order."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from icct.errors import ObservationError, did_you_mean
from icct.policy.given import read_quantity

if TYPE_CHECKING:
    from icct.policy.policy import Policy


def observation_of(policy: "Policy", values: Mapping[str, float | str]) -> list[float]:
    """Return an observation that is given by name; features that are not looked at may be missing.

    >>> from icct.zoo import zoo_policy
    >>> observation_of(zoo_policy("ring-cruiser"), {"speed_ego": "3.9 m/s"})[21]
    0.13
    """
    known = {feature.name: feature for feature in policy.features}
    found: dict[str, float] = {}
    for name, value in values.items():
        if name not in known:
            raise ObservationError(
                f"{name!r} is not a feature of {policy.name}.{did_you_mean(name, known)}"
            )
        try:
            found[name] = read_quantity(value, known[name]) if isinstance(value, str) else value
        except ValueError as error:
            raise ObservationError(f"{name} is {error}.") from None
    names = [feature.name for feature in policy.features]
    missing = [names[index] for index in policy.used_features if names[index] not in found]
    if missing:
        raise ObservationError(f"no value for {', '.join(missing)}, which {policy.name} looks at.")
    return [found.get(name, 0.0) for name in names]
