"""How an observation is given on a command line."""

from collections.abc import Sequence

from icct.errors import ObservationError, did_you_mean
from icct.policy import Policy


def observation_from(policy: Policy, words: Sequence[str]) -> list[float]:
    """Return the observation that NAME=VALUE words, or plain numbers in order, describe."""
    names = [feature.name for feature in policy.features]
    if not any("=" in word for word in words):
        return [_number(word, f"number {i}") for i, word in enumerate(words)]
    values: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in names:
            raise ObservationError(
                f"--observation: {name!r} is not a feature of {policy.name}."
                f"{did_you_mean(name, names)}"
            )
        values[name] = _number(value, name)
    missing = [names[index] for index in policy.used_features if names[index] not in values]
    if missing:
        raise ObservationError(
            f"--observation: no value for {', '.join(missing)}, which {policy.name} looks at."
        )
    return [values.get(name, 0.0) for name in names]


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ObservationError(f"--observation: {where} is {text!r}, expected a number.") from None
