"""A question about a policy: text → Property, and TOML files of named properties.

A property is read without knowing the policy; `check` looks its names up. Nothing here decides.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from icct.errors import PropertyError, did_you_mean, shown
from icct.files import naming, read_bytes, toml_from
from icct.policy.policy import Policy
from icct.verify.condition import AllOf, Condition, holds, negated
from icct.verify.parse import Parsed, parse
from icct.verify.physical import Part, in_raw_numbers
from icct.verify.tokens import fail

KEYS = ("property", "why")
LONGEST_NAME = 200  # characters
LONGEST_WHY = 2000
TASK_CARD = "icct-task"  # the format of a task card, whose properties stand below a key
LARGEST_FILE = 2**16  # bytes
MOST_COMPARISONS = 5000  # in one file


@dataclass(frozen=True)
class Property:
    """What should always hold: `conclusion` whenever `premise` does.

    Numbers are raw, or have the physical unit of what they are compared with (`3.9 m/s`); which
    raw number that is depends on the policy, see `raw`.

    >>> Property("when speed > 0.4 then acceleration <= 0").names
    ('acceleration', 'speed')
    """

    text: str
    name: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        _check_label(self.name, "name", LONGEST_NAME)
        _check_label(self.why, "why", LONGEST_WHY)
        _ = self._parsed  # refuse nonsense when it is made

    @property
    def premise(self) -> Condition | None:
        """When the conclusion must hold; None: always."""
        return self._parsed.premise

    @property
    def conclusion(self) -> Condition:
        """What must hold."""
        return self._parsed.conclusion

    @property
    def violation(self) -> Condition:
        """What must never happen: the premise without the conclusion."""
        broken = negated(self.conclusion)
        return broken if self.premise is None else AllOf((self.premise, broken))

    @property
    def comparisons(self) -> int:
        """The number of comparisons that reading it has made."""
        return self._parsed.comparisons

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features and actions it speaks of, by name."""
        return tuple(sorted(name for name, _ in self._parsed.columns))

    @property
    def has_units(self) -> bool:
        """Whether a number of it has a unit."""
        return bool(self._parsed.measured)

    def raw(self, policy: Policy) -> "Property":
        """Return the property with the raw numbers of a policy in the place of quantities.

        >>> from icct.zoo import zoo_policy
        >>> Property("when speed_ego > 3.9 m/s then acceleration <= 0").raw(
        ...     zoo_policy("ring-cruiser")).text
        'when speed_ego > 0.13 then acceleration <= 0'
        """
        if self.has_units:
            self._check_names(policy)
        return self.raw_by((*policy.features, *policy.actions))

    def raw_by(self, parts: Sequence[Part]) -> "Property":
        """Return the property with the raw numbers of some parts, all that it names among them."""
        if not self.has_units:
            return self
        text = in_raw_numbers(self.text, self._parsed.measured, parts)
        return Property(text, self.name, self.why)

    def check_fits(self, policy: Policy) -> None:
        """Refuse a name that is not exactly one feature or action, and a unit it does not have."""
        self._check_names(policy)
        self.raw(policy)

    def _check_names(self, policy: Policy) -> None:
        features = {feature.name for feature in policy.features}
        actions = {action.name for action in policy.actions}
        for name, column in self._parsed.columns:
            if name in features and name in actions:
                fail(self.text, column, f"{name!r} is both a feature and an action; rename one.")
            if name not in features | actions:
                fail(
                    self.text,
                    column,
                    f"{name!r} is not a feature or action of {policy.name}."
                    f"{did_you_mean(name, features | actions)}",
                )

    def holds(self, values: Mapping[str, float]) -> bool:
        """Return whether it holds for one observation and action, given by name; exact."""
        if self.has_units:
            raise PropertyError(f"{self.text}: has units; ask what raw(policy) returns.")
        exact = {name: Fraction(value) for name, value in values.items()}
        return not holds(self.violation, exact)

    @cached_property
    def _parsed(self) -> Parsed:
        return parse(self.text)


def read_properties(source: str | os.PathLike[str]) -> tuple[Property, ...]:
    """Return the properties of a TOML file or a task card, or those shipped for a built-in task.

    >>> [p.name for p in read_properties("inverted-pendulum")][:1]
    ['within-the-motor']
    """
    if source in shipped_tasks() and not Path(source).exists():
        return properties_from_toml((_shipped() / f"{source}.toml").read_bytes())
    content = read_bytes(
        source,
        f"a TOML file, or a task with shipped properties: {', '.join(shipped_tasks())}",
        LARGEST_FILE,
        PropertyError,
    )
    with naming(source, PropertyError):
        return properties_from_toml(content)


def shipped_tasks() -> tuple[str, ...]:
    """Return the tasks whose properties ship with the package."""
    return tuple(sorted(item.name.removesuffix(".toml") for item in _shipped().iterdir()))


def properties_from_toml(content: bytes) -> tuple[Property, ...]:
    r"""Return the properties that a file's content describes.

    >>> text = b'[slow-down]\nproperty = "when speed > 1 then force <= 0"\nwhy = "It tips."'
    >>> properties_from_toml(text)[0].name
    'slow-down'
    """
    tables = toml_from(content, PropertyError)
    if tables.get("format") == TASK_CARD:
        tables = tables.get("properties", {})
    if not isinstance(tables, dict) or not tables:
        raise PropertyError("no property found; expected tables such as [no-reverse].")
    properties, comparisons = [], 0
    for name, table in tables.items():
        properties.append(_property(name, table))
        comparisons += properties[-1].comparisons
        if comparisons > MOST_COMPARISONS:
            raise PropertyError(
                f"[{name}]: more than {MOST_COMPARISONS:,} comparisons up to here, of which each "
                "'abs' makes two and each 'not' new ones: use several files."
            )
    return tuple(properties)


def _property(name: str, table: object) -> Property:
    if not isinstance(table, dict):
        raise PropertyError(
            f"{name} is {shown(table)}, expected a table [{name}] with {_listed()}."
        )
    for key, value in table.items():
        if key not in KEYS:
            raise PropertyError(
                f"[{name}]: unknown key {shown(key)}, expected {_listed()}."
                f"{did_you_mean(key, KEYS)}"
            )
        if not isinstance(value, str):
            raise PropertyError(f"[{name}]: {key} is {shown(value)}, expected text.")
    for key in KEYS:
        if not table.get(key, "").strip():
            raise PropertyError(f"[{name}]: no {key!r}, expected {_listed()}.")
    try:
        return Property(table["property"], name, " ".join(table["why"].split()))
    except PropertyError as error:
        raise PropertyError(f"[{name}], {error}") from None


def _check_label(text: str, what: str, longest: int) -> None:
    if len(text) > longest or not text.isprintable():
        raise PropertyError(
            f"the {what} is {shown(text)}, expected at most {longest:,} characters that can be "
            "printed on one line."
        )


def _shipped() -> Traversable:
    return resources.files("icct.verify") / "properties"


def _listed() -> str:
    return "'property' (the text) and 'why' (a sentence on why it matters)"
