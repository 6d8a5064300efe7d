"""Task: what a policy is trained for and evaluated on, as one value that is passed along.

Whoever has a task can make its environment, in this process or, since a task can be pickled, in
another. Names become tasks once, at the border: see `icct.envs.find_task`. Needs no simulator, not
even Gymnasium, so that a policy can be checked against a task anywhere.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from icct.errors import ConfigError, PolicyError, TaskError, did_you_mean
from icct.policy import Action, Feature
from icct.policy.mirror import Mirror
from icct.policy.parts import Scalar

if TYPE_CHECKING:
    from icct.envs.actor import Actor, NamedActor

# Where an environment comes from: a function or class that makes it, or a text that names one (see
# source.py): a Gymnasium id, MODULE:NAME or FILE.py:NAME.
Source = str | Callable[..., Any]


@dataclass(frozen=True)
class Road:
    """What turns a traffic task's observation into metres and metres per second."""

    humans: int
    speed_limit_mps: float
    length_m: float  # of all edges, internal ones included
    lanes: int


@dataclass(frozen=True)
class Task:
    """A task that a policy can be trained for and evaluated on."""

    name: str
    environment: Source
    features: tuple[Feature, ...]
    actions: tuple[Action, ...]
    horizon: int  # agent steps until truncation
    options: tuple[tuple[str, Scalar], ...] = ()  # keywords that the environment is made with
    step_s: float | None = None  # simulated seconds per agent step
    collision: str | None = None  # the key of `info` that says whether an episode ends in one
    per_process: int | None = None  # environments that one process can hold; None: any number
    summary: str = ""
    # Further hyperparameters of training, where the generic ones do not do: (option, value).
    preset: tuple[tuple[str, Any], ...] = field(default=(), hash=False)
    properties: tuple[tuple[str, str, str], ...] = ()  # (name, property, why it matters)
    # -- of the built-in tasks only ---------------------------------------------------------------
    gym_id: str = ""  # the Gymnasium id that we register
    simulator: str = ""
    extra: str = ""  # the pip extra that brings the simulator
    paper_returns: str = ""  # the range in the paper's Table 1
    road: Road | None = None  # of a traffic task
    # What the simulator declares for features whose own bounds are not of origin `space`.
    space: tuple[float, float] = (-math.inf, math.inf)
    mirror: Mirror | None = None  # the task looks the same with left and right swapped
    # Option → its allowed values, of which the first is the default; None: the environment decides.
    choices: Mapping[str, tuple[str, ...]] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "actions", tuple(self.actions))
        object.__setattr__(self, "options", tuple(sorted(dict(self.options).items())))
        if not self.name or not self.name.isprintable():
            raise TaskError(f"a task's name is {self.name!r}, expected text on one line.")
        for kind, parts in (("feature", self.features), ("action", self.actions)):
            names = [part.name for part in parts]
            if not names:
                raise TaskError(f"{self.name}: there is no {kind}, expected at least one.")
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise TaskError(f"{self.name}: two {kind}s are called {twice!r}.")
        for action in self.actions:
            if not (math.isfinite(action.low) and math.isfinite(action.high)):
                raise TaskError(
                    f"{self.name}: the limits of action {action.name!r} are {action.low} and "
                    f"{action.high}, expected finite numbers. Write a task card and set them: "
                    f"icct tasks {self.name} --card -o card.toml"
                )
        for name, value in (("horizon", self.horizon), ("per_process", self.per_process)):
            if value is not None and value < 1:
                raise TaskError(f"{self.name}: {name} is {value}, expected at least 1.")

    @classmethod
    def from_env(
        cls,
        environment: Source,
        *,
        name: str | None = None,
        options: Mapping[str, Scalar] | None = None,
        features: Sequence[Feature | str] | None = None,
        actions: Sequence[Action | str] | None = None,
        horizon: int | None = None,
        drivers: "Sequence[Actor]" = (),
        **values: Any,
    ) -> "Task":
        """Return the task of any Gymnasium environment with continuous actions.

        Args:
            environment: A Gymnasium id, a text `MODULE:NAME` or `FILE.py:NAME`, or the class or
                function itself. One that a module defines can also run in worker processes.
            name: What to call the task; by default after the environment.
            options: Keywords that the environment is made with.
            features: The numbers of the observation, whole or just their names; by default they
                are named after the keys of a Dict, or x0, x1, ... Bounds that the space leaves open
                are measured in some episodes.
            actions: The numbers of the action, likewise.
            horizon: Steps of an episode, where the environment has no time limit of its own.
            drivers: Scripted actors to measure the bounds with, beside random actions.
            values: Further fields of a task, such as `collision` and `step_s`.
        """
        from icct.envs.source import import_gymnasium

        import_gymnasium(name or str(environment))
        from icct.envs.describe import described

        return described(
            environment,
            name=name,
            options=dict(options or {}),
            features=features,
            actions=actions,
            horizon=horizon,
            drivers=drivers,
            **values,
        )

    @property
    def built_in(self) -> bool:
        """Whether it is one of the six that ship with the package."""
        return bool(self.gym_id)

    @property
    def title(self) -> str:
        """Its name, with the options that are not the usual ones."""
        chosen = ", ".join(f"{name}={value}" for name, value in self.options)
        return f"{self.name} ({chosen})" if chosen else self.name

    def with_options(self, options: Mapping[str, Scalar]) -> "Task":
        """Return the task with some options of its environment changed.

        An option that the task does not have, or a value that the option does not take, is refused
        here where the choices are known, and when the environment is made otherwise.
        """
        if self.choices is not None:
            options = {name: self._choice(name, str(value)) for name, value in options.items()}
        return replace(self, options=tuple({**dict(self.options), **options}.items()))

    def _choice(self, name: str, value: str) -> str:
        choices = self.choices or {}
        if name not in choices:
            known = f"Known are {', '.join(choices)}." if choices else "It has none."
            raise ConfigError(
                f"{self.name} has no option {name!r}.{did_you_mean(name, choices)} {known}"
            )
        if value not in choices[name]:
            raise ConfigError(
                f"{self.name}: {name} is {value!r}, expected one of {', '.join(choices[name])}."
            )
        return value

    def feature_index(self, name: str) -> int:
        """Return the position of the feature called `name` in the observation."""
        return [feature.name for feature in self.features].index(name)

    def check_fits(self, policy: "NamedActor") -> None:
        """Refuse a policy whose features or actions are not the task's, in the same order."""
        for kind in ("feature", "action"):
            found, expected = (
                [part.name for part in getattr(side, f"{kind}s")] for side in (policy, self)
            )
            for position, (a, b) in enumerate(zip(found, expected, strict=False)):
                if a != b:
                    raise PolicyError(
                        f"{policy.name} does not fit task {self.name}: its {kind} {position} is "
                        f"{a!r}, but the task's is {b!r}."
                    )
            if len(found) != len(expected):
                raise PolicyError(
                    f"{policy.name} does not fit task {self.name}: it has {len(found)} {kind}s, "
                    f"but the task has {len(expected)}."
                )
