"""One episode of one policy, as far as it has been played; kept to be looked at again."""

from collections import deque

from icct.view.process import EpisodeProcess, ShownStep
from icct.view.show import Show
from icct.view.simulation import Actor

MOST_STEPS = 6000  # that one can scrub back through; more than the horizon of any built-in task
MOST_BYTES = 64 * 2**20  # of their text


class Run:
    """An episode in its own process, and its steps so far."""

    def __init__(self, show: Show) -> None:
        self._process = EpisodeProcess(show.title, show.make)
        self.stage = "null"
        self._steps: deque[ShownStep] = deque()
        self.first = 0  # the number of the oldest step that is kept
        self._bytes = 0

    @property
    def newest(self) -> int:
        """The number of the newest step."""
        return self.first + len(self._steps) - 1

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return bool(self._steps) and self._steps[-1].over

    def at(self, step: int) -> ShownStep | None:
        """Return a step, or the nearest that is kept."""
        if not self._steps:
            return None
        return self._steps[min(max(step - self.first, 0), len(self._steps) - 1)]

    def since(self, step: int) -> list[ShownStep]:
        """Return the steps that are kept from a number on."""
        start = max(step - self.first, 0)
        return [self._steps[place] for place in range(start, len(self._steps))]

    async def begin(self, seed: int, actor: Actor) -> None:
        """Start an episode of a policy."""
        begun = await self._process.reset(seed, actor)
        self.stage = begun.stage
        self._steps.clear()
        self.first, self._bytes = 0, 0
        self._keep(begun.first)

    async def advance(self) -> None:
        """Act once, unless the episode is over."""
        if not self.over:
            self._keep(await self._process.step())

    async def close(self) -> None:
        """End the process."""
        await self._process.close()

    def _keep(self, step: ShownStep) -> None:
        self._steps.append(step)
        self._bytes += len(step.text)
        while len(self._steps) > MOST_STEPS or (self._bytes > MOST_BYTES and len(self._steps) > 1):
            self._bytes -= len(self._steps.popleft().text)
            self.first += 1
