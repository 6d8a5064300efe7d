"""train(configurations) → a run folder with a readable policy for every seed.

The loop is here; what a step does is in group.py, how a population learns in sac.py.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from icct import __version__
from icct.commit import source_commit
from icct.envs.find import Named, find_task, remembered
from icct.errors import ConfigError
from icct.files import write_json
from icct.learn.checkpoint import FILE, Progress, load_checkpoint, save_checkpoint
from icct.learn.config import TrainConfig
from icct.learn.device import choose_device, pays_to_compile
from icct.learn.group import Group
from icct.learn.metrics import Metrics
from icct.learn.run import (
    LOCK_FILE,
    RUN_FILE,
    MemberStatus,
    Run,
    describe_run,
    fresh_members,
    group_names,
    mark_finished,
    read_about,
    read_run,
    remove_temporaries,
    snapshot_path,
    snapshot_stem,
)
from icct.learn.snapshot import Snapshot, read_snapshot, snapshot, write_snapshot
from icct.lock import only_writer
from icct.policy import Provenance
from icct.scoring import Score, ScoringPool
from icct.stop import Stop, stop_requests

LOG_EVERY = 1000  # steps between recorded losses
COLLECT_EVERY_S = 0.02  # how often scoring processes are looked after


@dataclass
class Status:
    """How a run stands; given to `report` now and then."""

    step: int
    steps: int
    members: tuple[MemberStatus, ...]
    steps_per_s: float | None = None  # of every member, since learning started
    eta_s: float | None = None
    doing: str = "training"


Report = Callable[[Status], None]


def train(
    configs: TrainConfig | Sequence[TrainConfig],
    out: str | Path,
    *,
    device: str = "auto",
    workers: int | None = None,
    scoring_workers: int | None = None,
    compile_update: bool | None = None,
    checkpoint_minutes: float = 10.0,
    report: Report | None = None,
) -> Run:
    """Train every member of every configuration and return the run.

    Ctrl-C and SIGTERM end the training after the step it is in; it is saved, and `resume` goes on.

    Args:
        configs: One configuration for each group of members that share task, method and shape.
        out: The run folder to make. It must not hold a run already.
        device: `cpu`, `cuda`, or `auto`: a GPU where there is one.
        workers: Processes that step environments, for each group; by default by the cores.
        scoring_workers: Processes that evaluate, for each task.
        compile_update: Whether torch.compile makes the update; by default on a GPU, and on a CPU
            for long runs where there is a C++ compiler.
        checkpoint_minutes: How often the run is saved; also when it is stopped.
        report: Called about twice a second with how the run stands.
    """
    configs = (configs,) if isinstance(configs, TrainConfig) else tuple(configs)
    folder = Path(out)
    _check_unlike(configs)
    choose_device(device)  # before anything is written
    try:
        (folder / "policies").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}.") from None
    with stop_requests() as stop, only_writer(folder, folder / LOCK_FILE):
        if (folder / RUN_FILE).exists():
            raise ConfigError(f"{folder} holds a run already. {_way_on(folder)}")
        trainer = _Trainer(configs, folder, device, workers, scoring_workers, compile_update)
        return trainer.run(checkpoint_minutes, report, stop)


def resume(
    folder: str | Path, *, task: Named | None = None, report: Report | None = None, **options: Any
) -> Run:
    """Go on with a run from its last checkpoint; `options` are those of `train`.

    A finished run is returned as it is. A task that is somebody's code has to be named again.
    """
    folder, named = Path(folder), None if task is None else find_task(task)
    run = read_run(folder, named)
    if run.finished:
        return run
    minutes = options.pop("checkpoint_minutes", 10.0)
    defaults = {"device": "auto", "workers": None, "scoring_workers": None, "compile_update": None}
    with stop_requests() as stop, only_writer(folder, folder / LOCK_FILE):
        run = read_run(folder, named)  # again: another process may have finished it in between
        if run.finished:
            return run
        trainer = _Trainer(run.configs, folder, **defaults | options)
        if (folder / FILE).exists():
            trainer.load()
        remove_temporaries(folder)
        return trainer.run(minutes, report, stop)


def _way_on(folder: Path) -> str:
    if read_about(folder).get("elapsed_s") is not None:
        return "It is finished; choose another folder."
    return f"Continue it with icct train --resume {folder}, or choose another folder."


class _Trainer:
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
        scoring = scoring_workers or max(1, cores // 4)
        if self.device.type == "cpu":
            # One core is left to the environments: threads that wait for each other on a core
            # they do not have make an update a hundred times slower.
            torch.set_num_threads(min(max(1, cores - 1), 4 * max(c.members for c in configs)))
        torch.manual_seed(configs[0].seeds[0])  # for Gumbel noise, the one draw that is torch's own
        self.groups = [
            Group(
                config,
                self.device,
                pays_to_compile(config, self.device) if compile_update is None else compile_update,
            )
            for config in configs
        ]
        self.names = group_names(configs)
        self.pools = {c.task: ScoringPool(c.task, scoring) for c in configs}
        self.status = Status(
            step=0,
            steps=max(config.steps for config in configs),
            members=fresh_members(configs),
        )
        self.elapsed_s = 0.0
        self.metrics_bytes = 0
        self.waiting: tuple[tuple[int, int, int], ...] = ()  # evaluations a stop left undone

    # -- the loop -------------------------------------------------------------------------------

    def run(self, checkpoint_minutes: float, report: Report | None, stop: Stop) -> Run:
        """Train to the end, or until somebody asks to stop."""
        try:
            self._begin()
            if not (self.folder / RUN_FILE).exists():  # whatever can be refused was refused by now
                write_json(self.folder / RUN_FILE, describe_run(self.configs), ConfigError)
            with Metrics(self.folder, self.status.step, self.metrics_bytes) as self.metrics:
                finished = self._train(checkpoint_minutes, report, stop)
        except OSError as error:
            raise ConfigError(
                f"{self.folder}: cannot be written: {error.strerror}. Make room and go on from the "
                f"last checkpoint with icct train --resume {self.folder}."
            ) from None
        finally:
            for group in self.groups:
                group.stop()
            for pool in self.pools.values():
                pool.close()
        return Run(self.folder, self.configs, finished, self.status.members, self.elapsed_s)

    def _begin(self) -> None:
        for group in self.groups:
            if self.status.step < group.config.steps:
                group.start(self.workers)
        for number, member, step in self.waiting:
            name, seed = self.names[number], self.configs[number].seeds[member]
            kept = snapshot_path(self.folder, name, len(self.names), seed, f"pending-{step}")
            self._submit(number, member, step, read_snapshot(kept))

    def _train(self, checkpoint_minutes: float, report: Report | None, stop: Stop) -> bool:
        """Take the steps that are left, and return whether the run is finished.

        State is saved between two steps alone: half a step cannot be gone on with.
        """
        started = saved = shown = collected = time.monotonic()
        already, pace = self.elapsed_s, None
        self.metrics.say(f"{'resumed' if self.status.step else 'started'} at {self.status.step}")
        while self.status.step < self.status.steps and not self._all_reached():
            if stop.requested:
                return self._stopped()
            self._step(self.status.step + 1)
            now = time.monotonic()
            self.elapsed_s = already + now - started
            if now - collected > COLLECT_EVERY_S:
                collected = now
                self._collect()
            if now - shown > 0.5 or self.status.step == self.status.steps:
                shown = now
                pace = self._measure_pace(pace, now)
                if report is not None:
                    report(self.status)
            if now - saved > 60 * checkpoint_minutes:
                self._save()
                saved = time.monotonic()
        return self._finish(report, stop)

    def _stopped(self) -> bool:
        if self.status.step > 0:
            self._save()
        self.metrics.say(f"stopped at {self.status.step}")
        return False

    def _step(self, step: int) -> None:
        for number, group in enumerate(self.groups):
            config = group.config
            if step > config.steps:
                continue
            ended = group.advance()
            if config.normalise and step == config.learning_starts:
                group.fit_scaling()
            if step > config.learning_starts:
                group.learn(step)
            if config.grow and step % config.grow_every == 0 and step > config.first_actor_step:
                self._grow(number, step)
            for member, total, length in ended:
                self._member(number, member).recent.append(total)
                self.metrics.add(
                    step,
                    self.names[number],
                    config.seeds[member],
                    episode_return=total,
                    episode_length=length,
                )
            if step % config.evaluate_every == 0 or step == config.steps:
                self._evaluate(number, step)
            if step % LOG_EVERY == 0 and step > config.learning_starts:
                self._record_losses(number, step)
            if step == config.steps:
                group.stop()
        self.status.step = step

    def _grow(self, number: int, step: int) -> None:
        name, seeds = self.names[number], self.configs[number].seeds
        for growth in self.groups[number].grow(step):
            seed = seeds[growth.member]
            self.metrics.add(step, name, seed, leaves=growth.leaves, entropy_gain=growth.gain)
            self.metrics.say(f"{name} seed {seed}: {growth.leaves} leaves at {step}")

    def _all_reached(self) -> bool:
        """Whether every member has an evaluation at the return its configuration stops at."""
        for number, config in enumerate(self.configs):
            for member in range(config.members):
                best = self._member(number, member).best_score
                if config.stop_score is None or best is None or best < config.stop_score:
                    return False
        return True

    def _end_early(self) -> None:
        step = self.status.step
        self.metrics.say(f"every member has reached its stop_score at {step}")
        for number, group in enumerate(self.groups):
            group.stop()
            group.refresh_host()
            for member in range(group.config.members):
                self._write(number, member, "final", self._snapshot(number, member, step))

    def _measure_pace(self, pace: tuple[int, float] | None, now: float) -> tuple[int, float] | None:
        step = self.status.step
        if step <= max(config.learning_starts for config in self.configs):
            return None
        if pace is None:
            return step, now
        if now - pace[1] > 1.0 and step > pace[0]:
            self.status.steps_per_s = (step - pace[0]) / (now - pace[1])
            self.status.eta_s = (self.status.steps - step) / self.status.steps_per_s
        return pace

    # -- evaluation -----------------------------------------------------------------------------

    def _evaluate(self, number: int, step: int) -> None:
        group = self.groups[number]
        group.refresh_host()
        for member in range(group.config.members):
            actor = self._snapshot(number, member, step)
            self._submit(number, member, step, actor)
            if step == group.config.steps:
                self._write(number, member, "final", actor)

    def _snapshot(self, number: int, member: int, step: int) -> Snapshot:
        config = self.configs[number]
        provenance = Provenance(
            task=config.task.name,
            task_card=remembered(config.task),
            method=config.method,
            seed=config.seeds[member],
            commit=source_commit(),
            versions=(("icct", __version__), ("torch", torch.__version__)),
            config=(("recipe", config.recipe), ("algorithm", config.algorithm)),
            history=(f"trained: {step} steps of {config.algorithm}",),
        )
        group = self.groups[number]
        return snapshot(group.host_actor, config, member, provenance, group.host_scaling)

    def _submit(self, number: int, member: int, step: int, actor: Snapshot) -> None:
        config = self.configs[number]
        score = Score(number, member, step, actor, config.evaluate_episodes)
        count = -(-step // config.evaluate_every)
        self.pools[config.task].submit(score, config.seeds[member], count)

    def _collect(self, timeout_s: float = 0.0) -> None:
        for pool in self.pools.values():
            for score in pool.collect(timeout_s):
                self._take(score)

    def _take(self, score: Score) -> None:
        status = self._member(score.group, score.member)
        status.last_score = score.mean
        if status.best_score is None or score.mean > status.best_score:
            status.best_score, status.best_step = score.mean, score.step
            self._write(score.group, score.member, "best", score.actor)
        self.metrics.add(
            score.step, status.group, status.seed, score=score.mean, best_score=status.best_score
        )

    def _write(self, number: int, member: int, kind: str, actor: Snapshot) -> Path:
        seed = self.configs[number].seeds[member]
        stem = snapshot_stem(self.folder, self.names[number], len(self.configs), seed)
        stem.parent.mkdir(parents=True, exist_ok=True)
        return write_snapshot(actor, stem.with_name(f"{stem.name}.{kind}"))

    def _finish(self, report: Report | None, stop: Stop) -> bool:
        """Wait for the last evaluations, and return whether the run is finished."""
        if self.status.step < self.status.steps:
            self._end_early()
        self.status.doing, self.status.eta_s = "waiting for the last evaluations", None
        while any(pool.pending for pool in self.pools.values()):
            if stop.requested:
                return self._stopped()
            self._collect(timeout_s=0.2)
            if report is not None:
                report(self.status)
        self.status.doing = "done"
        self.metrics.say(f"finished in {self.elapsed_s:.0f} s")
        self.metrics.flush()
        mark_finished(self.folder, self.status.members, self.elapsed_s)
        (self.folder / FILE).unlink(missing_ok=True)
        self._remove_pending(keep=())
        return True

    def _record_losses(self, number: int, step: int) -> None:
        critic, actor, entropy = self.groups[number].latest_losses()
        for member, seed in enumerate(self.configs[number].seeds):
            self.metrics.add(
                step,
                self.names[number],
                seed,
                critic_loss=float(critic[member]),
                actor_loss=float(actor[member]),
                entropy=float(entropy[member]),
            )
        self.metrics.flush()

    def _member(self, number: int, member: int) -> MemberStatus:
        before = sum(config.members for config in self.configs[:number])
        return self.status.members[before + member]

    # -- saving ---------------------------------------------------------------------------------

    def _save(self) -> None:
        """Write a checkpoint; evaluations still under way are kept as files to do again."""
        pending = [score for pool in self.pools.values() for score in pool.pending]
        kept = [
            self._write(score.group, score.member, f"pending-{score.step}", score.actor)
            for score in pending
        ]
        progress = Progress(
            step=self.status.step,
            elapsed_s=self.elapsed_s,
            metrics_bytes=self.metrics.flush(),
            pending=tuple((score.group, score.member, score.step) for score in pending),
            members=tuple(member.as_json() for member in self.status.members),
        )
        save_checkpoint(self.folder, self.groups, progress)
        self._remove_pending(keep=kept)

    def _remove_pending(self, keep: Sequence[Path]) -> None:
        for file in (self.folder / "policies").rglob("*.pending-*"):
            if file not in keep:
                file.unlink()

    def load(self) -> None:
        """Take up the run where its last checkpoint is."""
        progress = load_checkpoint(self.folder, self.groups)
        for status, kept in zip(self.status.members, progress.members, strict=True):
            status.restore(kept)
        self.status.step, self.elapsed_s = progress.step, progress.elapsed_s
        self.metrics_bytes, self.waiting = progress.metrics_bytes, progress.pending


def _check_unlike(configs: tuple[TrainConfig, ...]) -> None:
    if not configs:
        raise ConfigError("There is no configuration to train.")
    names = [(config.task, config.method) for config in configs]
    if len(set(names)) < len(names):
        raise ConfigError("Two groups have the same task and method; give one more seeds instead.")
