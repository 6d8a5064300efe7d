"""The loop of a run: steps of every group, and what is done now and then between them.

What a step does is in group.py, how a population learns in sac.py, what becomes of evaluations in
evaluation.py, what a run folder holds in run.py.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from icct.errors import ConfigError
from icct.files import write_json
from icct.learn.checkpoint import FILE, Progress, load_checkpoint, save_checkpoint
from icct.learn.config import TrainConfig
from icct.learn.device import choose_device, pays_to_compile
from icct.learn.evaluation import Evaluations, snapshots
from icct.learn.group import Group
from icct.learn.metrics import Metrics
from icct.learn.run import (
    RUN_FILE,
    Member,
    Run,
    describe_run,
    fresh_members,
    keep_snapshot,
    mark_finished,
    remove_pending,
)
from icct.stop import Stop

LOG_EVERY = 1000  # steps between recorded losses
COLLECT_EVERY_S = 0.02  # how often scoring processes are looked after
REPORT_EVERY_S = 0.5


@dataclass
class Status:
    """How a run stands; given to `report` now and then."""

    step: int
    steps: int
    members: tuple[Member, ...]
    steps_per_s: float | None = None  # of every member, since learning started
    eta_s: float | None = None
    doing: str = "training"
    waiting: int = 0  # evaluations that have not come back


OnStatus = Callable[[Status], None]


class Trainer:
    """A run in progress."""

    def __init__(
        self,
        configs: tuple[TrainConfig, ...],
        folder: Path,
        device: str,
        workers: int | None,
        scoring_workers: int | None,
        compile_update: bool | None,
    ) -> None:
        self.configs, self.folder = configs, folder
        self.device = choose_device(device)
        cores = len(os.sched_getaffinity(0))
        self.workers = workers or max(1, cores - 1)
        self.scoring_workers = scoring_workers or max(1, cores // 4)
        if self.device.type == "cpu":
            # One core is left to the environments: threads that wait for each other on a core
            # they do not have make an update a hundred times slower.
            torch.set_num_threads(min(max(1, cores - 1), 4 * max(c.members for c in configs)))
        torch.manual_seed(configs[0].seeds[0])  # for Gumbel noise, the one draw that is torch's own
        members = fresh_members(configs)
        self.status = Status(0, max(config.steps for config in configs), members)
        waiting = iter(members)
        self.groups = [
            (
                Group(
                    config,
                    self.device,
                    pays_to_compile(config, self.device)
                    if compile_update is None
                    else compile_update,
                ),
                tuple(next(waiting) for _ in config.seeds),
            )
            for config in configs
        ]
        self.progress = Progress()  # where the last checkpoint is
        self.elapsed_s = 0.0

    # -- the loop -------------------------------------------------------------------------------

    def run(self, checkpoint_minutes: float, report: OnStatus | None, stop: Stop) -> Run:
        """Train to the end, or until somebody asks to stop."""
        try:
            for group, _ in self.groups:
                if self.status.step < group.config.steps:
                    group.start(self.workers)
            if not (self.folder / RUN_FILE).exists():  # whatever can be refused was refused by now
                write_json(self.folder / RUN_FILE, describe_run(self.configs), ConfigError)
            with (
                Metrics(self.folder, self.status.step, self.progress.metrics_bytes) as self.metrics,
                Evaluations(
                    self.configs, self.folder, self.metrics, self.scoring_workers
                ) as self.evaluations,
            ):
                finished = self._train(checkpoint_minutes, report, stop)
        except OSError as error:
            raise ConfigError(
                f"{self.folder}: cannot be written: {error.strerror}. Make room and go on from the "
                f"last checkpoint with icct train --resume {self.folder}."
            ) from None
        finally:
            for group, _ in self.groups:
                group.stop()
        return Run(self.folder, self.configs, finished, self.status.members, self.elapsed_s)

    def _train(self, checkpoint_minutes: float, report: OnStatus | None, stop: Stop) -> bool:
        """Take the steps that are left, and return whether the run is finished.

        State is saved between two steps alone: half a step cannot be gone on with.
        """
        started = saved = shown = collected = time.monotonic()
        already, pace = self.elapsed_s, Pace(self.configs)
        self.metrics.say(f"{'resumed' if self.status.step else 'started'} at {self.status.step}")
        self._evaluate_again()
        while self.status.step < self.status.steps and not self._all_reached():
            if stop.requested:
                return self._stopped()
            self._step(self.status.step + 1)
            now = time.monotonic()
            self.elapsed_s = already + now - started
            if now - collected > COLLECT_EVERY_S:
                collected = now
                self.evaluations.collect()
            if now - shown > REPORT_EVERY_S or self.status.step == self.status.steps:
                shown = now
                pace.measure(self.status, now)
                self.status.waiting = len(self.evaluations.pending)
                if report is not None:
                    report(self.status)
            if now - saved > 60 * checkpoint_minutes:
                self._save()
                saved = time.monotonic()
        return self._finish(report, stop)

    def _step(self, step: int) -> None:
        """Take one step with every member of every group."""
        for group, members in self.groups:
            config, starts = group.config, group.config.learning.learning_starts
            if step > config.steps:
                continue
            ended = group.advance()
            if config.start.normalise and step == starts:
                group.fit_scaling()
            if step > starts:
                group.learn(step)
            if group.grows_at(step):
                self._grow(group, members, step)
            for episode in ended:
                member = members[episode.member]
                member.recent.append(episode.total)
                values = {"episode_return": episode.total, "episode_length": episode.length}
                self.metrics.add(step, member.group, member.seed, **values)
            if step % config.evaluation.evaluate_every == 0 or step == config.steps:
                self.evaluations.evaluate(group, members, step)
            if step % LOG_EVERY == 0 and step > starts:
                self._record_losses(group, members, step)
            if step == config.steps:
                group.stop()
        self.status.step = step

    def _grow(self, group: Group, members: Sequence[Member], step: int) -> None:
        for growth in group.grow(step):
            member, leaves = members[growth.member], growth.leaves
            self.metrics.add(
                step, member.group, member.seed, leaves=leaves, entropy_gain=growth.gain
            )
            self.metrics.say(f"{member.group} seed {member.seed}: {leaves} leaves at {step}")

    def _record_losses(self, group: Group, members: Sequence[Member], step: int) -> None:
        for member, losses in zip(members, group.latest_losses().T.tolist(), strict=True):
            named = dict(zip(("critic_loss", "actor_loss", "entropy"), losses, strict=True))
            self.metrics.add(step, member.group, member.seed, **named)
        self.metrics.flush()

    # -- the end --------------------------------------------------------------------------------

    def _all_reached(self) -> bool:
        """Whether every member has an evaluation at the return its configuration stops at."""
        return all(
            group.config.evaluation.stop_score is not None
            and member.best_score is not None
            and member.best_score >= group.config.evaluation.stop_score
            for group, members in self.groups
            for member in members
        )

    def _finish(self, report: OnStatus | None, stop: Stop) -> bool:
        """Wait for the last evaluations, and return whether the run is finished."""
        if self.status.step < self.status.steps:
            self._end_early()
        self.status.doing, self.status.eta_s = "waiting for the last evaluations", None
        began, first = time.monotonic(), len(self.evaluations.pending)
        while left := len(self.evaluations.pending):
            if stop.requested:
                return self._stopped()
            self.evaluations.collect(timeout_s=0.2)
            self.status.waiting = left
            if left < first:
                self.status.eta_s = (time.monotonic() - began) * left / (first - left)
            if report is not None:
                report(self.status)
        self.status.doing = "done"
        self.metrics.say(f"finished in {self.elapsed_s:.0f} s")
        self.metrics.flush()
        mark_finished(self.folder, self.status.members, self.elapsed_s)
        (self.folder / FILE).unlink(missing_ok=True)
        remove_pending(self.folder)
        return True

    def _end_early(self) -> None:
        step = self.status.step
        self.metrics.say(f"every member has reached its stop_score at {step}")
        for group, members in self.groups:
            group.stop()
            for member, actor in zip(members, snapshots(group, step), strict=True):
                keep_snapshot(self.folder, member, "final", actor)

    def _stopped(self) -> bool:
        if self.status.step > 0:
            self._save()
        self.metrics.say(f"stopped at {self.status.step}")
        return False

    # -- saving ---------------------------------------------------------------------------------

    def _save(self) -> None:
        """Write a checkpoint; evaluations still under way are kept as files to do again."""
        members, pending = self.status.members, self.evaluations.pending
        kept = [
            keep_snapshot(self.folder, score.member, f"pending-{score.step}", score.actor)
            for score in pending
        ]
        numbers = {id(member): number for number, member in enumerate(members)}
        self.progress = Progress(
            step=self.status.step,
            elapsed_s=self.elapsed_s,
            metrics_bytes=self.metrics.flush(),
            pending=tuple((numbers[id(score.member)], score.step) for score in pending),
            members=tuple(member.as_json() for member in members),
        )
        save_checkpoint(self.folder, [group for group, _ in self.groups], self.progress)
        remove_pending(self.folder, but=kept)

    def load(self) -> None:
        """Take up the run where its last checkpoint is."""
        self.progress = load_checkpoint(self.folder, [group for group, _ in self.groups])
        for member, kept in zip(self.status.members, self.progress.members, strict=True):
            member.restore(kept)
        self.status.step, self.elapsed_s = self.progress.step, self.progress.elapsed_s

    def _evaluate_again(self) -> None:
        """Ask for the evaluations that a stop left undone."""
        owners = [(group.config, member) for group, members in self.groups for member in members]
        for number, step in self.progress.pending:
            self.evaluations.evaluate_again(*owners[number], step)


class Pace:
    """How fast a run goes, since every group learns."""

    def __init__(self, configs: Sequence[TrainConfig]) -> None:
        self._from = max(config.learning.learning_starts for config in configs)
        self._began: tuple[int, float] | None = None

    def measure(self, status: Status, now: float) -> None:
        """Note in the status how fast it goes and how long it will take."""
        if status.step <= self._from:
            return
        if self._began is None:
            self._began = status.step, now
        first, began = self._began
        if now - began > 1.0 and status.step > first:
            status.steps_per_s = (status.step - first) / (now - began)
            status.eta_s = (status.steps - status.step) / status.steps_per_s
