"""How an observation is given on a command line."""

from collections.abc import Sequence

from icct.cli.warn import warn
from icct.errors import ObservationError, did_you_mean
from icct.policy import Feature, Policy
from icct.policy.given import outside, read_quantity


def observation_from(policy: Policy, words: Sequence[str]) -> list[float]:
    """Return the observation that NAME=VALUE words, or plain numbers in order, describe.

    A value may have its unit, `speed=3.5m/s` or `speed=3.5 m/s`. What is outside the bounds gets a
    warning.
    """
    if not any("=" in word for word in words):
        parts = zip(words, policy.features, strict=False)
        listed = [_number(word, feature) for word, feature in parts]
        return [*listed, *(0.0 for _ in words[len(listed) :])]  # refused by act for its length
    known = {feature.name: feature for feature in policy.features}
    values: dict[str, float] = {}
    for name, text in _named(words):
        if name not in known:
            raise ObservationError(
                f"--observation: {name!r} is not a feature of {policy.name}."
                f"{did_you_mean(name, known)}"
            )
        values[name] = _number(text, known[name])
    names = [feature.name for feature in policy.features]
    missing = [names[index] for index in policy.used_features if names[index] not in values]
    if missing:
        raise ObservationError(
            f"--observation: no value for {', '.join(missing)}, which {policy.name} looks at."
        )
    return [values.get(name, 0.0) for name in names]


def _named(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return (name, value); a word without `=` is the unit of the value before it."""
    pairs: list[tuple[str, str]] = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals and pairs:
            name, value = pairs[-1][0], f"{pairs.pop()[1]} {word}"
        pairs.append((name, value))
    return pairs


def _number(text: str, feature: Feature) -> float:
    try:
        value = read_quantity(text, feature)
    except ValueError as error:
        raise ObservationError(f"--observation: {feature.name} is {error}.") from None
    if warning := outside(feature, value):
        warn(warning)
    return value
