"""How much work something is, and how long it takes: what is printed before anything starts."""

from collections.abc import Callable
from dataclasses import dataclass

UNKNOWN = "unknown"
Clock = Callable[[float], str]  # writes a duration


@dataclass(frozen=True)
class Amount:
    """Steps, episodes and seconds of some work.

    >>> Amount(10, 2, 1.5) + Amount(0, 3, 0.5)
    Amount(steps=10, episodes=5, seconds=2.0)
    """

    steps: int = 0  # of training, of all agents together
    episodes: int = 0
    seconds: float | None = 0.0  # None where that cannot be told

    def __add__(self, other: "Amount") -> "Amount":
        known = self.seconds is not None and other.seconds is not None
        seconds = (self.seconds or 0.0) + (other.seconds or 0.0) if known else None
        return Amount(self.steps + other.steps, self.episodes + other.episodes, seconds)

    def as_text(self, together: int, clock: Clock) -> str:
        """Return the amount in words; so many pieces are done at a time."""
        took = UNKNOWN if self.seconds is None else f"about {clock(self.seconds)}"
        return (
            f"{self.steps:,} agent-steps, {self.episodes:,} episodes; "
            f"here, {together} at a time: {took}"
        )
