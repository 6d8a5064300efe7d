"""Evaluation beside training: actors go to processes of their own, scores come back later.

Training never waits for a score. Every evaluation runs fresh episodes whose seeds no training
episode has, and chooses the best checkpoint on them. Never imports torch: its processes would.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from icct.envs.actor import Actor
from icct.envs.episodes import EpisodePool, Job, returns
from icct.envs.task import Task
from icct.seeds import SCORING, episode_seed

NICENESS = 10  # of its processes: beside training they get a tenth of a core, else all of it
Member = TypeVar("Member")
Scored = TypeVar("Scored", bound=Actor)


@dataclass
class Score(Generic[Member, Scored]):
    """One evaluation of one member; `returns` is empty until it is done."""

    member: Member  # whoever asks knows what it is
    step: int
    actor: Scored
    episodes: int
    returns: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """The mean return."""
        return sum(self.returns) / len(self.returns)


class ScoringPool(Generic[Member, Scored]):
    """Evaluations of one task under way; they come back in the order they were asked for."""

    def __init__(self, task: Task, workers: int) -> None:
        self.pending: list[Score[Member, Scored]] = []
        self._pool = EpisodePool(task, workers, here=False, niceness=NICENESS)
        self._asked: dict[int, Score[Member, Scored]] = {}

    def submit(self, score: Score[Member, Scored], seed: int, number: int) -> None:
        """Ask for an evaluation: number `number` of the member with this seed."""
        first = number * score.episodes
        places = range(first, first + score.episodes)
        seeds = [episode_seed(SCORING + seed, place) for place in places]
        self.pending.append(score)
        self._asked[self._pool.submit(Job(returns, score.actor, seeds))] = score

    def collect(self, timeout_s: float = 0.0) -> list[Score[Member, Scored]]:
        """Return the evaluations that are complete, in the order they were asked for."""
        for ticket, played in self._pool.collect(timeout_s):
            self._asked.pop(ticket).returns = played
        finished = []
        while self.pending and self.pending[0].returns:
            finished.append(self.pending.pop(0))
        return finished

    def close(self) -> None:
        """Stop the processes."""
        self._pool.close()
