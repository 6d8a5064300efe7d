"""The interface of the live view: where its steps come from, and what one step is.

    Simulation ─► Moment ─► Episode adds what the policy does there ─► Step (plain JSON) ─► page

A `Simulation` knows a world and nothing of trees: it takes an action and gives the next `Moment`.
`TaskSimulation` is that of any task; the robot arena is another one. An `Episode` plays a policy in
it. Each lives in a process of its own: what is handed around is a picklable function that makes it.

**One step**, as JSON (`Step`):

    step         0 after the reset, then 1, 2, ...
    observation  the numbers that the policy sees, as the environment gives them
    path         the nodes it passes, from the root; empty for an actor that is no tree
    leaf         the last of them, or null
    action       what the policy commands for this observation
    reward       what the action before it earned; null after the reset
    return       the sum of the rewards so far
    ended        null, or in a word why the episode is over: "terminated", "truncated", "collision"
    notes        short lines of text on the scene, such as "12.3 s"; may be empty
    poses        body → [x, y, heading, tint], where there is a stage (see icct/envs/stage.py)
    frame        a picture as base64 of a JPEG, where there is none; either may be null

**A recording** is JSON, too (`icct/view/recording.py`), and the page embeds it as it is:

    {"format": "icct-episode", "version": 1,
     "about": {...},                                  the policies, their trees, the task
     "runs": [{"seed": 7, "stage": {...} | null, "steps": [Step, ...]}, ...]}   one run, or two
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icct.envs.stage import Poses, Stage
from icct.policy import Policy

Step = dict[str, Any]  # as above; it is only ever written as JSON


@dataclass(frozen=True)
class Moment:
    """The world after a reset or a step."""

    observation: Sequence[float] | NDArray[np.floating[Any]]
    reward: float | None = None  # None after a reset
    ended: str | None = None
    poses: Poses | None = None
    frame: bytes | None = None  # a JPEG
    notes: Sequence[str] = ()


class Simulation(Protocol):
    """A world that can be watched."""

    def reset(self, seed: int) -> Moment:
        """Start an episode; the same seed gives the same episode."""

    def step(self, action: NDArray[np.float64]) -> Moment:
        """Act for one step; never called after the episode has ended."""

    def stage(self) -> Stage | None:
        """Return what stands still in the running episode; None where moments have frames."""

    def close(self) -> None:
        """Free the simulator."""


MakeSimulation = Callable[[], Simulation]  # picklable: a class, or functools.partial of one


class Actor(Protocol):
    """What acts: a `Policy`, or anything else with `act`."""

    def act(self, observation: Any) -> Any:
        """Return the action for an observation."""


class Episode:
    """A policy in a simulation, step by step."""

    def __init__(self, simulation: Simulation, actor: Actor) -> None:
        self.simulation, self.actor = simulation, actor
        self._number, self._return = 0, 0.0
        self._action: NDArray[np.float64] = np.empty(0)
        self.over = True

    def reset(self, seed: int) -> Step:
        """Start an episode and return its first step."""
        self._number, self._return = 0, 0.0
        return self._step(self.simulation.reset(seed))

    def step(self) -> Step:
        """Act once and return the step that follows."""
        self._number += 1
        return self._step(self.simulation.step(self._action))

    def _step(self, moment: Moment) -> Step:
        observation = np.asarray(moment.observation, dtype=np.float64)
        self._action = np.asarray(self.actor.act(observation), dtype=np.float64)
        self._return += moment.reward or 0.0
        self.over = moment.ended is not None
        path = self.actor.path(observation) if isinstance(self.actor, Policy) else ()
        return {
            "step": self._number,
            "observation": observation.tolist(),
            "path": list(path),
            "leaf": path[-1] if path else None,
            "action": self._action.tolist(),
            "reward": moment.reward,
            "return": self._return,
            "ended": moment.ended,
            "notes": list(moment.notes),
            "poses": _rounded(moment.poses),
            "frame": _as_text(moment.frame),
        }


def _rounded(poses: Poses | None) -> Mapping[str, list[float]] | None:
    if poses is None:
        return None
    return {name: [round(float(value), 4) for value in pose] for name, pose in poses.items()}


def _as_text(frame: bytes | None) -> str | None:
    return None if frame is None else base64.b64encode(frame).decode("ascii")
