"""An environment → its Task: names and bounds from its spaces, or from episodes."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.envs.actor import Actor
from icct.envs.source import check_picklable, make_raw, open_env, source_text
from icct.envs.spaces import Named, action_numbers, observation_numbers
from icct.envs.task import Source, Task
from icct.errors import TaskError
from icct.policy import Action, Feature
from icct.policy.parts import Scalar
from icct.seeds import Purpose, seeds_above

DEFAULT_HORIZON = 1000  # of an environment without a time limit
EPISODES = 20  # to measure bounds in, of each driver and of random actions
MOST_STEPS = 10_000  # of each of them
MARGIN = 0.5  # of the measured range, added on both sides
LONGEST_HOLD = 40  # steps for which a random action is held in every other episode


def described(
    environment: Source,
    *,
    name: str | None,
    options: Mapping[str, Scalar],
    features: Sequence[Feature | str] | None,
    actions: Sequence[Action | str] | None,
    horizon: int | None,
    drivers: Sequence[Actor] = (),
    **values: Any,
) -> Task:
    """Return the task of an environment; see `Task.from_env`."""
    check_picklable(environment)
    called = name or _plain_name(source_text(environment))
    raw = make_raw(environment, dict(options), called)
    try:
        observed = observation_numbers(raw.observation_space, called)
        acted = action_numbers(raw.action_space, called)
        limit, step_s = _time_limit(raw), _step_s(raw)
    finally:
        raw.close()
    task = Task(
        **{"step_s": step_s, **values},
        name=called,
        environment=environment,
        features=_features(observed, features, called),
        actions=_actions(acted, actions, called),
        horizon=horizon or limit or DEFAULT_HORIZON,
        options=tuple(options.items()),
    )
    return measured(task, drivers)


def measured(task: Task, drivers: Sequence[Actor] = ()) -> Task:
    """Return the task with bounds for the features that have none, from episodes.

    Random actions drive half of the episodes, random actions that are held for a while the other
    half, and each driver as many again. The range that was seen is widened by half on both sides.
    """
    unknown = [math.isinf(f.low) or math.isinf(f.high) for f in task.features]
    if not any(unknown):
        return task
    seen = np.concatenate([_seen(task, actor) for actor in (RandomHeld(task), *drivers)])
    lows, highs = seen.min(axis=0).tolist(), seen.max(axis=0).tolist()
    features = []
    for feature, open_ended, low, high in zip(task.features, unknown, lows, highs, strict=True):
        if open_ended:
            margin = MARGIN * (high - low) or max(1.0, abs(low))
            feature = replace(
                feature,
                low=_rounded(low - margin, math.floor) if math.isinf(feature.low) else feature.low,
                high=_rounded(high + margin, math.ceil)
                if math.isinf(feature.high)
                else feature.high,
                origin="measured",
            )
        features.append(feature)
    return replace(task, features=tuple(features))


class RandomHeld:
    """Acts uniformly at random; in every other episode each action is held for some steps.

    Held actions go where independent ones, which cancel each other, never come.
    """

    def __init__(self, task: Task) -> None:
        self._low = [action.low for action in task.actions]
        self._high = [action.high for action in task.actions]
        self._episodes = 0

    def begin(self, seed: int) -> None:
        """Start an episode: the same seed gives the same actions."""
        self._generator = np.random.default_rng((seed, 1))
        self._longest = LONGEST_HOLD if self._episodes % 2 else 1
        self._episodes += 1
        self._left = 0

    def act(self, observation: Any) -> NDArray[np.float64]:
        """Return the action of this step."""
        if self._left == 0:
            self._left = int(self._generator.integers(1, self._longest + 1))
            self._action = self._generator.uniform(self._low, self._high)
        self._left -= 1
        return self._action


def _seen(task: Task, actor: Any) -> NDArray[np.float32]:
    """Return what an actor observes in some episodes, (steps, features)."""
    env, seen = open_env(task), []
    try:
        for seed in seeds_above(Purpose.MEASURE, 0, range(EPISODES)):
            if hasattr(actor, "begin"):
                actor.begin(seed)
            observation, _ = env.reset(seed=seed)
            ended = False
            while not ended:
                seen.append(observation)
                observation, _, terminated, truncated, _ = env.step(
                    np.asarray(actor.act(observation))
                )
                ended = terminated or truncated or len(seen) >= MOST_STEPS
            seen.append(observation)
            if len(seen) >= MOST_STEPS:
                break
    finally:
        env.close()
    return np.stack(seen)


def _features(
    observed: Named, given: Sequence[Feature | str] | None, name: str
) -> tuple[Feature, ...]:
    named = _named(observed, given, name, "features", "observation")
    return tuple(
        own if isinstance(own, Feature) else Feature(own, "", low, high) for own, low, high in named
    )


def _actions(acted: Named, given: Sequence[Action | str] | None, name: str) -> tuple[Action, ...]:
    named = _named(acted, given, name, "actions", "action")
    return tuple(
        own if isinstance(own, Action) else Action(own, "", low, high) for own, low, high in named
    )


def _named(
    numbers: Named, given: Sequence[Any] | None, name: str, kind: str, whole: str
) -> Iterator[tuple[Any, float, float]]:
    if given is not None and len(given) != len(numbers):
        raise TaskError(
            f"{name}: {len(given)} {kind} are given, but an {whole} has {len(numbers)} numbers."
        )
    for place, (own, low, high) in enumerate(numbers):
        yield own if given is None else given[place], low, high


def _plain_name(text: str) -> str:
    """Return a short name: `my/file.py:MyEnv` is MyEnv, `Pendulum-v1` itself."""
    return text.rpartition(":")[2] or text


def _time_limit(env: Any) -> int | None:
    """Return the time limit that the environment was registered or wrapped with."""
    layer = env
    while layer is not None:
        limit = getattr(layer, "_max_episode_steps", None)
        if isinstance(limit, int) and limit > 0:
            return limit
        layer = getattr(layer, "env", None)
    spec = getattr(env, "spec", None)
    return getattr(spec, "max_episode_steps", None)


def _step_s(env: Any) -> float | None:
    """Return the simulated time of a step: `dt` of the simulator, or by the frame rate."""
    dt = getattr(env.unwrapped, "dt", None)
    if isinstance(dt, int | float) and 0 < dt < math.inf:
        return float(dt)
    fps = (env.metadata or {}).get("render_fps")
    return 1 / fps if isinstance(fps, int | float) and fps > 0 else None


def _rounded(value: float, towards: Callable[[float], int]) -> float:
    """Return a bound with two digits, rounded outwards.

    >>> _rounded(-1.234, math.floor), _rounded(0.0567, math.ceil)
    (-1.3, 0.057)
    """
    if value == 0:
        return 0.0
    digits = 1 - math.floor(math.log10(abs(value)))
    scaled = towards(value * 10.0**digits)
    return round(scaled / 10.0**digits, max(digits, 0))
