"""How an observation is given on a command line."""

from collections.abc import Sequence

from icct.cli.warn import warn
from icct.errors import ObservationError
from icct.policy import Policy
from icct.policy.given import outside
from icct.policy.named import observation_of


def observation_from(policy: Policy, words: Sequence[str]) -> list[float]:
    """Return the observation that NAME=VALUE words, or plain numbers in order, describe.

    A value may have its unit, `speed=3.5m/s` or `speed=3.5 m/s`. What is outside the bounds gets a
    warning.
    """
    names = [feature.name for feature in policy.features]
    if any("=" in word for word in words):
        values = _named(words)
    elif len(words) == len(names):
        values = dict(zip(names, words, strict=True))
    else:
        raise ObservationError(
            f"--observation: found {len(words)} numbers, expected {len(names)}, one for each "
            f"feature of {policy.name}, or NAME=VALUE."
        )
    try:
        observation = observation_of(policy, values)
    except ObservationError as error:
        raise ObservationError(f"--observation: {error}") from None
    for feature, value in zip(policy.features, observation, strict=True):
        if feature.name in values and (warning := outside(feature, value)):
            warn(warning)
    return observation


def _named(words: Sequence[str]) -> dict[str, float | str]:
    """Return name → value; a word without `=` is the unit of the value before it."""
    values: dict[str, float | str] = {}
    name = ""
    for word in words:
        before, equals, value = word.partition("=")
        if equals or not name:
            name, values[before] = before, value
        else:
            values[name] = f"{values[name]} {word}"
    return values
