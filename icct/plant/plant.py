"""Plant: what a controller controls, as a small value: states, their rates, what is seen of them.

    states' rates  =  derivatives(states, actions, disturbances)         at every moment
    observations   =  expressions of states and disturbances             every `period` seconds
    actions        =  the controller's, held until the next observation

Disturbances are whatever the model does not know: each is any function of time that stays within
its box. Every number is exact. Nothing here integrates; see `integrate.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from icct.errors import PlantError, did_you_mean
from icct.plant.expression import Expression
from icct.plant.question import TIME, Question, check_names
from icct.policy import Action, Feature, Policy
from icct.policy.parts import Origin
from icct.verify.physical import Part
from icct.verify.property import Property

Box = tuple[Fraction, Fraction]  # low and high, both inside


@dataclass(frozen=True)
class State:
    """One number that says where the plant is, and how fast it changes."""

    name: str
    unit: str
    rate: Expression  # over states, actions and disturbances, in the unit per second
    start: Box  # where episodes of the task start, and proofs where nothing else is said


@dataclass(frozen=True)
class Disturbance:
    """A number that nobody knows, other than that it stays within its box all the time."""

    name: str
    unit: str
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Observation:
    """One number that the controller sees: a feature of the policy."""

    name: str
    unit: str
    value: Expression  # over states and disturbances, at the moment it is taken
    low: float
    high: float
    origin: Origin = "physical"

    @property
    def feature(self) -> Feature:
        """The policy's feature that it stands for."""
        return Feature(self.name, self.unit, self.low, self.high, self.origin)


@dataclass(frozen=True)
class Episode:
    """What makes a task of a plant: how long, what is rewarded in a step, what ends it early."""

    horizon: int  # periods
    reward: Expression  # over states, observations and actions, after the step
    fails: Property | None = None  # ends the episode, with no reward for its last step


@dataclass(frozen=True)
class Plant:
    """A model to control. Names are unique, and every expression is closed over the right ones."""

    name: str
    summary: str
    source: str  # where the model comes from
    leaves_out: tuple[str, ...]  # what the real thing has and the model has not
    period: Fraction  # seconds between two observations
    states: tuple[State, ...]
    actions: tuple[Action, ...]
    observations: tuple[Observation, ...]
    disturbances: tuple[Disturbance, ...] = ()
    guard: Property | None = None  # where the model holds, over states; None: everywhere
    episode: Episode | None = None  # None: it is no task to train on
    questions: tuple[Question, ...] = ()  # that are asked of every controller of it

    @property
    def derivatives(self) -> tuple[Expression, ...]:
        """The rates of the states, in their order."""
        return tuple(state.rate for state in self.states)

    @property
    def start(self) -> tuple[Box, ...]:
        """The box of all starts, in the order of the states."""
        return tuple(state.start for state in self.states)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that a policy for this plant has."""
        return tuple(observation.feature for observation in self.observations)

    @property
    def known_names(self) -> set[str]:
        """The names that a condition may speak of: states, observations, actions and time."""
        parts: tuple[State | Observation | Action, ...]
        parts = (*self.states, *self.observations, *self.actions)
        return {part.name for part in parts} | {TIME}

    def checked(self, condition: Property) -> Property:
        """Return a condition in raw numbers; refuse a name or a unit that nothing here has."""
        check_names(condition, self.known_names, self.name)
        parts: tuple[Part, ...] = (
            *(Feature(state.name, state.unit) for state in self.states),
            *self.features,
            *self.actions,
            Feature(TIME, "s"),
        )
        return condition.raw_by(parts)

    def check_fits(self, policy: Policy) -> None:
        """Refuse a policy whose features or actions are not what the plant shows and takes."""
        misfit = f"{policy.name} does not fit plant {self.name}"
        _check_same("feature", policy.features, self.features, misfit)
        _check_same("action", policy.actions, self.actions, misfit)
        for own, wanted in zip(policy.actions, self.actions, strict=True):
            if policy.squash == "none" or own.low < wanted.low or own.high > wanted.high:
                limits = "none" if policy.squash == "none" else f"{own.low:g} to {own.high:g}"
                raise PlantError(
                    f"{misfit}: the limits of its action {own.name!r} are {limits}, but the plant "
                    f"takes {wanted.low:g} to {wanted.high:g}."
                )


def _check_same(
    kind: str,
    found: Sequence[Feature | Action],
    expected: Sequence[Feature | Action],
    misfit: str,
) -> None:
    """Refuse parts of a policy that differ from the plant's in number, name or unit."""
    names = [part.name for part in expected]
    if len(found) != len(expected):
        raise PlantError(
            f"{misfit}: it has {len(found)} {kind}s, but the plant {len(expected)}: "
            f"{', '.join(names)}."
        )
    for place, (own, wanted) in enumerate(zip(found, expected, strict=True)):
        if own.name != wanted.name:
            raise PlantError(
                f"{misfit}: its {kind} {place} is {own.name!r}, but the plant's is "
                f"{wanted.name!r}.{did_you_mean(own.name, names)}"
            )
        if own.unit != wanted.unit:
            raise PlantError(
                f"{misfit}: its {kind} {own.name!r} is in {own.unit or 'no unit'}, but the "
                f"plant's is in {wanted.unit or 'no unit'}."
            )
