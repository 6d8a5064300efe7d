"""The episodes that one tab watches: one policy, or two side by side, on and back again."""

import asyncio
from collections.abc import Sequence
from typing import Any

from icct.policy import Policy
from icct.view.process import ShownStep, compact
from icct.view.run import Run
from icct.view.show import Show


class Playback:
    """Runs that go step by step together, and the step that is shown of them."""

    def __init__(self, seed: int) -> None:
        self.seed, self.episode = seed, 0
        self.cursor = 0  # the step that is shown
        self._runs: list[Run] = []
        self._told: list[int] = []  # steps of each run whose traces the page has

    @property
    def count(self) -> int:
        """How many policies are watched."""
        return len(self._runs)

    @property
    def first(self) -> int:
        """The number of the oldest step that is kept."""
        return self._runs[0].first

    @property
    def newest(self) -> int:
        """The number of the newest step that was played."""
        return max(run.newest for run in self._runs)

    @property
    def over(self) -> bool:
        """Whether the last step of all episodes is shown."""
        return self.cursor >= self.newest and all(run.over for run in self._runs)

    @property
    def shown(self) -> ShownStep | None:
        """The step that is shown of the first run."""
        return self._runs[0].at(self.cursor) if self._runs else None

    async def begin(self, show: Show, policies: Sequence[Policy]) -> None:
        """Start the episode of the seed anew for some policies; raise `TaskError` on a crash."""
        while len(self._runs) > len(policies):
            await self._runs.pop().close()
        while len(self._runs) < len(policies):
            self._runs.append(Run(show))
        starts = zip(self._runs, policies, strict=True)
        await asyncio.gather(*(run.begin(self.seed, policy) for run, policy in starts))
        self.cursor, self._told = 0, [0] * len(self._runs)
        self.episode += 1

    async def advance(self) -> None:
        """Show the next step: one that has been played already, or a new one."""
        if self.cursor >= self.newest:
            await asyncio.gather(*(run.advance() for run in self._runs))
        self.cursor = min(self.cursor + 1, self.newest)

    def seek(self, step: int) -> None:
        """Show a step, or the nearest that is kept."""
        self.cursor = min(max(step, self.first), self.newest)

    def opening(self) -> str:
        """Return the message that an episode has begun, with its stages."""
        head = {"type": "episode", "episode": self.episode, "seed": self.seed}
        return _with_list(head, "stages", [run.stage for run in self._runs])

    def frame(self, **values: Any) -> str:
        """Return the message that shows the present step; the charts get all since the last one."""
        traces = []
        for place, run in enumerate(self._runs):
            traces.append([step.trace for step in run.since(self._told[place])])
            self._told[place] = run.newest + 1
        head = {
            "type": "frame",
            "episode": self.episode,
            "cursor": self.cursor,
            "first": self.first,
            "newest": self.newest,
            "traces": traces,
            **values,
        }
        steps = [run.at(self.cursor) for run in self._runs]
        return _with_list(head, "steps", [step.text for step in steps if step is not None])

    async def close(self) -> None:
        """End the simulators."""
        await asyncio.gather(*(run.close() for run in self._runs))


def _with_list(head: dict[str, Any], name: str, texts: Sequence[str]) -> str:
    """Return an object as JSON, with a list of what is JSON already."""
    return f'{compact(head)[:-1]},"{name}":[{",".join(texts)}]}}'
