"""Evaluation beside training: actors go to processes of their own, scores and best policies back.

Training never waits for a score. The policy of a member's best evaluation is written when its score
comes back, that of the last step when it is reached.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from icct.learn.config import TrainConfig
from icct.learn.group import Group
from icct.learn.metrics import Metrics
from icct.learn.provenance import provenance
from icct.learn.run import Member, keep_snapshot, kept_snapshot
from icct.learn.snapshot import Snapshot, snapshot
from icct.scoring import Score, ScoringPool


class Evaluations:
    """The evaluations of a run: those under way, and what becomes of those that are done."""

    def __init__(
        self, configs: Sequence[TrainConfig], folder: Path, metrics: Metrics, workers: int
    ) -> None:
        self.folder, self.metrics = folder, metrics
        self.pools = {c.task: ScoringPool[Member, Snapshot](c.task, workers) for c in configs}

    @property
    def pending(self) -> list[Score[Member, Snapshot]]:
        """Those under way."""
        return [score for pool in self.pools.values() for score in pool.pending]

    def evaluate(self, group: Group, members: Sequence[Member], step: int) -> None:
        """Ask for an evaluation of every member of a group as it is now."""
        for member, actor in zip(members, snapshots(group, step), strict=True):
            self._submit(group.config, member, step, actor)
            if step == group.config.steps:
                keep_snapshot(self.folder, member, "final", actor)

    def evaluate_again(self, config: TrainConfig, member: Member, step: int) -> None:
        """Ask once more for an evaluation that was under way when the run was stopped."""
        actor = kept_snapshot(self.folder, member, f"pending-{step}")
        self._submit(config, member, step, actor)

    def _submit(self, config: TrainConfig, member: Member, step: int, actor: Snapshot) -> None:
        score = Score(member, step, actor, config.evaluation.evaluate_episodes)
        number = -(-step // config.evaluation.evaluate_every)
        self.pools[config.task].submit(score, member.seed, number)

    def collect(self, timeout_s: float = 0.0) -> None:
        """Take the scores that have come back; a member's best one has its policy written."""
        for pool in self.pools.values():
            for score in pool.collect(timeout_s):
                member, mean = score.member, score.mean
                member.last_score = mean
                if member.best_score is None or mean > member.best_score:
                    member.best_score, member.best_step = mean, score.step
                    keep_snapshot(self.folder, member, "best", score.actor)
                self.metrics.add(
                    score.step, member.group, member.seed, score=mean, best_score=member.best_score
                )

    def __enter__(self) -> "Evaluations":
        return self

    def __exit__(self, *_: object) -> None:
        for pool in self.pools.values():
            pool.close()


def snapshots(group: Group, step: int) -> Iterator[Snapshot]:
    """Yield every member of a group as it is now, frozen."""
    group.refresh_host()
    for row in range(group.config.members):
        about = provenance(group.config, row, step)
        yield snapshot(group.host_actor, group.config, row, about, group.host_scaling)
