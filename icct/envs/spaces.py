"""Observation and action spaces of any Gymnasium environment as flat, named numbers.

Box spaces of any shape are flattened row by row, Dict and Tuple spaces by Gymnasium's own
flattening. What a small readable tree cannot read or command is refused, with what to do.
"""

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from icct.errors import TaskError

MOST_FEATURES = 512  # nobody reads a controller over more
UNBOUNDED = 1e30  # a bound beyond this is the space's way to say that it has none
Named = list[tuple[str, float, float]]  # (name, low, high)


def observation_numbers(space: Any, name: str) -> Named:
    """Return the name and the declared bounds of every number of an observation."""
    found = list(_numbers(space, "", name))
    if len(found) > MOST_FEATURES:
        shape = f" of shape {space.shape}" if isinstance(space, spaces.Box) else ""
        image = isinstance(space, spaces.Box) and len(space.shape) >= 2
        raise TaskError(
            f"{name}: an observation{shape} has {len(found):,} numbers, and a readable tree takes "
            f"at most {MOST_FEATURES}. {'Images are not supported: ' if image else ''}wrap the "
            "environment so that it observes a few named quantities instead."
        )
    return _without_twins(found)


def action_numbers(space: Any, name: str) -> Named:
    """Return the name and the limits of every number of an action; only a Box has any."""
    if not isinstance(space, spaces.Box) or space.dtype.kind != "f":
        raise TaskError(
            f"{name}: the actions are {_short(space)}, expected a Box of real numbers: a tree with "
            "linear rules in its leaves commands continuous actions. Many environments have a "
            "continuous version (for LunarLander-v3: --option continuous=true)."
        )
    found = list(_box(space, "action"))
    if len(found) > MOST_FEATURES:
        raise TaskError(f"{name}: {len(found):,} actions, expected at most {MOST_FEATURES}.")
    return found


def flat_observation(space: Any, observation: Any, where: str) -> NDArray[np.float32]:
    """Return an observation as one flat array, or refuse what does not belong to the space."""
    try:
        if isinstance(space, spaces.Box):
            values = np.array(observation, dtype=np.float32)  # a copy: environments reuse theirs
            if values.shape != space.shape:
                raise ValueError(f"its shape is {values.shape}, expected {space.shape}")
            flat = values.reshape(-1)
        else:
            flat = np.asarray(spaces.flatten(space, observation), dtype=np.float32)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise TaskError(
            f"{where}: the observation does not fit the observation space: {_reason(error)}."
        ) from None
    if not np.isfinite(flat).all():
        name, _, _ = observation_numbers(space, where)[int(np.argmin(np.isfinite(flat)))]
        raise TaskError(
            f"{where}: {name} is {flat[~np.isfinite(flat)][0]}; every number of an observation "
            "must be finite."
        )
    return flat


def _numbers(space: Any, prefix: str, name: str) -> Iterator[tuple[str, float, float]]:
    """Yield the numbers of a space in the order of Gymnasium's flattening."""
    match space:
        case spaces.Box():
            yield from _box(space, prefix or "x")
        case spaces.Discrete():
            for value in range(int(space.n)):
                yield f"{prefix or 'x'}_is_{int(space.start) + value}".replace("-", "minus_"), 0, 1
        case spaces.MultiBinary():
            for place in range(math.prod(space.shape)):
                yield f"{prefix or 'x'}_{place}", 0, 1
        case spaces.MultiDiscrete():
            for place, count in enumerate(np.ravel(space.nvec)):
                for value in range(int(count)):
                    yield f"{prefix or 'x'}_{place}_is_{value}", 0, 1
        case spaces.Dict() | spaces.Tuple():
            parts = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space)
            for key, part in parts:
                own = re.sub(r"\W", "_", str(key))
                yield from _numbers(part, f"{prefix}_{own}" if prefix else own, name)
        case _:
            raise TaskError(
                f"{name}: observations of {_short(space)} have no fixed list of numbers. Wrap the "
                "environment so that it observes a Box, or a Dict of Boxes."
            )


def _box(space: spaces.Box, prefix: str) -> Iterator[tuple[str, float, float]]:
    lows, highs = space.low.reshape(-1).tolist(), space.high.reshape(-1).tolist()
    # A single number needs no index, unless it would be called x.
    single = len(lows) == 1 and prefix != "x"
    for place, (low, high) in enumerate(zip(lows, highs, strict=True)):
        index = "" if single else str(place) if prefix == "x" else f"_{place}"
        yield (
            f"{prefix}{index}",
            low + 0.0 if low > -UNBOUNDED else -math.inf,  # -0.0 becomes 0.0
            high + 0.0 if high < UNBOUNDED else math.inf,
        )


def _without_twins(found: Named) -> Named:
    """Return the numbers with names that can stand in exported code, each only once."""
    taken: set[str] = set()
    named = []
    for name, low, high in found:
        plain = name if re.match(r"[A-Za-z_]", name) and name.isascii() else "x_" + re.sub(
            r"[^A-Za-z0-9_]", "_", name
        )  # fmt: skip
        own = plain
        while own in taken:
            own += "_"
        taken.add(own)
        named.append((own, low, high))
    return named


def _reason(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)


def _short(space: Any) -> str:
    text = str(space)
    return text if len(text) <= 80 else f"{text[:77]}..."
