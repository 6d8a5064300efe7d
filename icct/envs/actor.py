"""Actor: what can drive an environment. A policy, a scripted driver and a network all are one."""

from collections.abc import Sequence
from typing import Protocol

from numpy.typing import ArrayLike

from icct.policy import Action, Feature


class Actor(Protocol):
    """Anything that can be evaluated.

    With a method `begin(seed)` it is told the start of each episode; with a mapping `env_options`
    it sets options of the task.
    """

    def act(self, observation: ArrayLike) -> ArrayLike:
        """Return the action for one observation."""
        ...


class NamedActor(Actor, Protocol):
    """An actor that says what its observations and actions are, as a policy does."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def features(self) -> Sequence[Feature]:
        """The numbers of an observation."""
        ...

    @property
    def actions(self) -> Sequence[Action]:
        """The numbers of an action."""
        ...
