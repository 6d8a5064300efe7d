"""A question about a plant under control: always, never or reach a condition, within some time.

The condition is a `Property`: the language of `icct verify`, over the names of states,
observations and actions, and `time` in seconds since the start.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from icct.errors import PlantError, PropertyError, did_you_mean
from icct.verify.parse import parse
from icct.verify.property import Property
from icct.verify.tokens import fail

TIME = "time"  # seconds since the start, in conditions
Kind = Literal["always", "never", "reach"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Question:
    """Does the condition hold `always`, `never`, or at some moment (`reach`), up to `time`?"""

    kind: Kind
    condition: Property
    time: Fraction  # seconds
    name: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if self.time <= 0:
            raise PlantError(f"the time is {float(self.time):g} s, expected more than 0.")

    @property
    def text(self) -> str:
        """The question in words, such as `always gap >= 10, for 5 s`."""
        return f"{self.kind} {self.condition.text}, {_within(self.kind)} {float(self.time):g} s"


def _within(kind: Kind) -> str:
    return "within" if kind == "reach" else "for"


def check_names(condition: Property, known: Iterable[str], plant: str) -> None:
    """Refuse a condition with a name that the plant does not have; the error marks the column."""
    known = set(known)
    for name, column in parse(condition.text).columns:
        if name not in known:
            what = f"{name!r} is nothing of plant {plant}: it has {', '.join(sorted(known))}."
            try:
                fail(condition.text, column, what + did_you_mean(name, known))
            except PropertyError as problem:
                raise PlantError(str(problem)) from None
