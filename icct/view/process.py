"""An episode in a process of its own, asked from an event loop.

Steps come back as JSON text: the server sends them on without looking inside. A simulator that
crashes takes its process with it and nothing else.
"""

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from icct.envs.worker import STOP_WITHIN_S, Worker
from icct.errors import IcctError, TaskError
from icct.view.simulation import Actor, Episode, MakeSimulation, Step


@dataclass(frozen=True)
class ShownStep:
    """One step as text, and what the charts need of it."""

    text: str
    trace: Sequence[float | None]  # the actions, then the return, then the leaf
    over: bool


@dataclass(frozen=True)
class Begun:
    """An episode that has begun: its stage as text, and its first step."""

    stage: str
    first: ShownStep


class EpisodeHandler:
    """The episode inside the process; requests are (`reset`, (seed, actor)) and (`step`, None)."""

    def __init__(self, make: MakeSimulation) -> None:
        self._simulation = make()
        self._episode: Episode | None = None

    def __call__(self, request: tuple[str, Any]) -> Begun | ShownStep:
        """Answer one request."""
        what, argument = request
        if what == "reset":
            seed, actor = argument
            self._episode = Episode(self._simulation, actor)
            first = _shown(self._episode.reset(seed))
            return Begun(compact(self._simulation.stage()), first)
        assert self._episode is not None  # the first request is a reset
        return _shown(self._episode.step())

    def close(self) -> None:
        """Free the simulator."""
        self._simulation.close()


def _shown(step: Step) -> ShownStep:
    trace = [*step["action"], step["return"], step["leaf"]]
    return ShownStep(compact(step), trace, step["ended"] is not None)


def compact(value: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


class EpisodeProcess:
    """A handle on the process; one request at a time, none of them blocks the event loop."""

    def __init__(self, title: str, make: MakeSimulation) -> None:
        self._title, self._make = title, make
        self._worker: Worker | None = None
        self._thread = ThreadPoolExecutor(1)  # its own: one that hangs holds up no other tab

    async def reset(self, seed: int, actor: Actor) -> Begun:
        """Start an episode, and the process where there is none; raise `TaskError` on a crash."""
        begun: Begun = await self._run(self._ask, "reset", (seed, actor))
        return begun

    async def step(self) -> ShownStep:
        """Act once; raise `TaskError` on a crash."""
        shown: ShownStep = await self._run(self._ask, "step", None)
        return shown

    async def close(self) -> None:
        """End the process, gently if it answers and firmly if it does not."""
        closing = asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        done, _ = await asyncio.wait([closing], timeout=STOP_WITHIN_S)
        if not done and self._worker is not None:
            self._worker.kill()  # so that the request that it is busy with ends
        await asyncio.wait([closing])
        self._thread.shutdown(wait=False)

    async def _run(self, function: Any, *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, function, *arguments)

    def _ask(self, what: str, argument: Any) -> Any:
        try:
            if self._worker is None or self._worker.connection.closed:
                self._worker = Worker(self._title, EpisodeHandler, self._make)
                self._worker.answer()
            self._worker.ask((what, argument))
            return self._worker.answer()
        except IcctError as error:
            self._close()  # the next reset begins with a process of its own
            raise TaskError(str(error)) from error

    def _close(self) -> None:
        if self._worker is not None:
            self._worker.close()
