"""What a policy is made of: features, actions, splits, leaves with linear rules, provenance.

Each part is an immutable value that refuses nonsense when it is made; whether the parts fit
together is checked by `Policy`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from icct.errors import PolicyError, shown
from icct.policy.quantity import physical_unit

Origin = Literal["space", "physical", "measured"]
Squash = Literal["tanh", "clip", "none"]
Scalar = str | int | float | bool | None

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
LONGEST_NAME = 200  # characters
LONGEST_TEXT = 10_000  # of a sentence of provenance


class Scaled:
    """What features and actions share: a name, and a unit that may carry a scale: `x 30 m/s`."""

    name: str
    unit: str

    @cached_property
    def scale(self) -> float:
        """What the number is multiplied by to be in its physical unit: 30 for `x 30 m/s`."""
        return physical_unit(self.unit)[0]

    @cached_property
    def physical_unit(self) -> str:
        """The unit without its scale: `m/s` for `x 30 m/s`."""
        return physical_unit(self.unit)[1]


@dataclass(frozen=True)
class Feature(Scaled):
    """One number of the observation: its name, unit and the bounds it stays within.

    `origin` says how far the bounds can be trusted: `space` (declared by the environment),
    `physical` (follows from the physics) or `measured` (seen in episodes so far).
    """

    name: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    origin: Origin = "space"

    def __post_init__(self) -> None:
        where = f"feature {self.name!r}"
        _check_name(self.name, where)
        check_text(self.unit, f"{where}: unit", LONGEST_NAME)
        _check_bounds(self.low, self.high, where)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if self.origin not in get_args(Origin):
            raise PolicyError(
                f"{where}: origin is {shown(self.origin)}, expected one of "
                f"{', '.join(get_args(Origin))}."
            )


@dataclass(frozen=True)
class Action(Scaled):
    """One number of the action: its name, unit and limits."""

    name: str
    unit: str = ""
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        where = f"action {self.name!r}"
        _check_name(self.name, where)
        check_text(self.unit, f"{where}: unit", LONGEST_NAME)
        _check_bounds(self.low, self.high, where)
        object.__setattr__(self, "low", float(self.low) + 0.0)  # a limit of -0 is 0
        object.__setattr__(self, "high", float(self.high) + 0.0)

    @cached_property
    def centre(self) -> float:
        """The middle of the limits, where a tanh squash puts 0."""
        halfway = self.low / 2 + self.high / 2  # halves first: the sum could overflow
        return min(max(halfway, self.low), self.high)  # and the smallest floats halve to 0

    @cached_property
    def half_range(self) -> float:
        """What a tanh squash is multiplied by; rounded so that no action leaves the limits."""
        half = min(self.high - self.centre, self.centre - self.low)
        while self.centre + half > self.high or self.centre - half < self.low:
            half = math.nextafter(half, 0.0)
        return half


@dataclass(frozen=True)
class Controller:
    """One linear rule: `bias` plus the sum of weight times feature over `weights`."""

    weights: tuple[tuple[int, float], ...] = ()  # (feature index, weight), by rising index
    bias: float = 0.0

    def __post_init__(self) -> None:
        ordered = tuple(sorted((index, float(weight)) for index, weight in self.weights))
        object.__setattr__(self, "weights", ordered)
        object.__setattr__(self, "bias", float(self.bias))

    def value(self, observation: Sequence[float] | Mapping[int, float]) -> float:
        """Return the rule's value before squashing; the features it uses are enough.

        >>> Controller(weights=((0, 2.0), (2, -1.0)), bias=0.5).value([1.0, 9.0, 3.0])
        -0.5
        """
        total = self.bias
        for index, weight in self.weights:
            total += weight * observation[index]
        return total


@dataclass(frozen=True)
class Split:
    """Test one feature: go `above` when it exceeds `threshold`, else `below`."""

    feature: int
    threshold: float
    below: int  # index of the next node in Policy.nodes
    above: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", float(self.threshold))


@dataclass(frozen=True)
class Leaf:
    """One linear rule per action; `log_std` is the training noise, kept to train on."""

    controllers: tuple[Controller, ...]
    log_std: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "controllers", tuple(self.controllers))
        if self.log_std is not None:
            object.__setattr__(self, "log_std", tuple(float(value) for value in self.log_std))


Node = Split | Leaf


@dataclass(frozen=True)
class Provenance:
    """Where a policy comes from; `history` gains one sentence with every change."""

    task: str | None = None
    method: str | None = None
    seed: int | None = None
    commit: str | None = None
    versions: tuple[tuple[str, str], ...] = ()
    config: tuple[tuple[str, Scalar], ...] = ()
    history: tuple[str, ...] = ()
    task_card: tuple[tuple[str, Scalar], ...] = ()  # how to make its environment; see envs/find.py

    def __post_init__(self) -> None:
        object.__setattr__(self, "versions", tuple((str(k), str(v)) for k, v in self.versions))
        for name in ("config", "task_card"):
            pairs = tuple((str(key), value) for key, value in getattr(self, name))
            object.__setattr__(self, name, pairs)
        object.__setattr__(self, "history", tuple(self.history))
        for text in (self.task, self.method, self.commit, *self.history, *chain(*self.versions)):
            check_text(text or "", "provenance")
        for name in ("versions", "config", "task_card"):
            if len(dict(getattr(self, name))) < len(getattr(self, name)):
                raise PolicyError(f"provenance: one key stands twice in {name}.")
        for name in ("config", "task_card"):
            for key, value in getattr(self, name):
                _check_scalar(key, value, f"provenance: {name}")


Value = TypeVar("Value", float, NDArray[np.float64])


def squash(value: Value, action: Action, kind: Squash) -> Value:
    """Return the action that a controller's value stands for.

    `tanh` maps onto the action's limits smoothly, `clip` cuts at them, `none` leaves the value. A
    value that equals a limit stays as it is: numpy's maximum makes -0 of 0 on some machines.
    """
    squashed: Value = value
    if kind == "tanh":
        squashed = action.centre + action.half_range * np.tanh(value)
    elif kind == "clip":
        squashed = _clipped(value, action)
    return squashed


def _clipped(value: Value, action: Action) -> Value:
    if isinstance(value, np.ndarray):
        raised = np.where(value < action.low, action.low, value)
        return np.where(raised > action.high, action.high, raised)
    return min(max(value, action.low), action.high)  # of two that are equal, the first


def check_text(text: object, where: str, longest: int = LONGEST_TEXT) -> None:
    """Refuse text that cannot be printed on one line of a terminal, or is longer than sensible."""
    if not isinstance(text, str) or not text.isprintable():
        raise PolicyError(
            f"{where} is {shown(text)}, expected text that can be printed on one line."
        )
    if len(text) > longest:
        raise PolicyError(f"{where} has {len(text):,} characters, expected at most {longest:,}.")


def _check_scalar(key: str, value: object, where: str) -> None:
    check_text(key, where)
    check_text(value if isinstance(value, str) else "", f"{where} {key!r}")
    if not isinstance(value, Scalar) or (isinstance(value, float) and not math.isfinite(value)):
        raise PolicyError(
            f"{where} {shown(key)} is {shown(value)}, expected text, a finite number, true, false "
            "or null."
        )


def _check_name(name: object, where: str) -> None:
    if not isinstance(name, str) or not NAME.match(name):
        raise PolicyError(
            f"{where}: a name is letters, digits and '_', not starting with a digit "
            "(it becomes a name in exported code)."
        )
    check_text(name, where, LONGEST_NAME)


def _check_bounds(low: float, high: float, where: str) -> None:
    if not low <= high:  # also false when one of them is NaN
        raise PolicyError(f"{where}: low is {low} and high is {high}, expected low <= high.")
