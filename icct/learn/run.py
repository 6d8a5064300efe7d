"""The run folder: what it holds, how its files are named, and what training leaves behind."""

import os
import platform
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from icct import __version__
from icct.commit import source_commit
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.files import TEMPORARY, read_json, write_json
from icct.learn.config import TrainConfig, config_from_json
from icct.learn.metrics import read_metrics
from icct.learn.snapshot import Snapshot, read_snapshot, write_snapshot

RUN_FILE = "run.json"
LOCK_FILE = "run.lock"
FORMAT = "icct-run"
RUN_VERSION = 1
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)  # found in a file
RECENT = 20  # training episodes in a member's recent return
SCORES = ("last_score", "best_score", "best_step")


@dataclass
class Member:
    """One member of a run: who it is, and how it stands."""

    group: str
    seed: int
    place: str = ""  # of its policies in the run folder, without `.best` or `.final` and suffix
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    last_score: float | None = None
    best_score: float | None = None
    best_step: int | None = None

    @property
    def recent_return(self) -> float | None:
        """The mean return of the latest training episodes, with exploration."""
        return sum(self.recent) / len(self.recent) if self.recent else None

    def as_json(self) -> dict[str, Any]:
        """Return what a resumed run has to know, as plain values."""
        return {name: getattr(self, name) for name in SCORES} | {"recent": list(self.recent)}

    def restore(self, kept: dict[str, Any]) -> None:
        """Take over what `as_json` returned, or raise a TypeError, KeyError or ValueError."""
        for name in SCORES:
            if kept[name] is not None and type(kept[name]) not in (int, float):
                raise TypeError(f"{name} is not a number")
            setattr(self, name, kept[name])
        self.recent.extend(float(value) for value in kept["recent"])


@dataclass(frozen=True)
class Run:
    """What training leaves behind."""

    folder: Path
    configs: tuple[TrainConfig, ...]
    finished: bool
    members: tuple[Member, ...]
    elapsed_s: float

    def policy(self, group: int = 0, member: int = 0, kind: str = "best") -> Snapshot:
        """Return the `best` or the `final` policy of a member."""
        name = group_names(self.configs)[group]
        seed = self.configs[group].seeds[member]
        return read_snapshot(snapshot_path(self.folder, name, len(self.configs), seed, kind))

    def metrics(self) -> dict[str, list[Any]]:
        """Return what the run measured as columns, one number in each row.

        `pandas.DataFrame(run.metrics())` is a tidy table; a curve of it for each seed is
        `.query("metric == 'score'").pivot(index="step", columns="seed", values="value")`.
        """
        return read_metrics(self.folder)

    def stem(self, group: int, member: int) -> Path:
        """Return the path of a member's policies without `.best` or `.final` and suffix."""
        name = group_names(self.configs)[group]
        seed = self.configs[group].seeds[member]
        return snapshot_stem(self.folder, name, len(self.configs), seed)


def read_run(folder: Path, task: Task | None = None) -> Run:
    """Return the run in a folder, as far as its run file tells: finished ones know their scores.

    Where the environment is somebody's code, the caller has to name the task.
    """
    path, about = folder / RUN_FILE, read_about(folder)
    configs = tuple(config_from_json(values, f"{path}", task) for values in about["groups"])
    members = fresh_members(configs)
    elapsed_s = about.get("elapsed_s")  # written at the end
    try:
        for status, kept in zip(members, about.get("members", []), strict=False):
            status.restore(kept)
        return Run(folder, configs, elapsed_s is not None, members, float(elapsed_s or 0.0))
    except DAMAGED as error:
        raise _not_a_run(path, f"{type(error).__name__}: {error}") from None


def read_configs(folder: Path, task: Task | None = None) -> tuple[TrainConfig, ...]:
    """Return the configurations of a run folder; the task as for `read_run`."""
    return read_run(folder, task).configs


def read_about(folder: Path) -> dict[str, Any]:
    """Return the content of the run file, whose version is ours and whose groups are tables."""
    path = folder / RUN_FILE
    try:
        about = read_json(path, "a run file", error=ConfigError)
    except ConfigError as error:
        raise _not_a_run(path, error) from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise _not_a_run(path, f"its format is not {FORMAT!r}")
    if about.get("version") != RUN_VERSION:
        raise ConfigError(
            f"{path.parent} is a run of version {about.get('version')!r}; this icct reads version "
            f"{RUN_VERSION}. Resume it with the icct that wrote it, or start anew."
        )
    groups = about.get("groups")
    if not isinstance(groups, list) or not groups or not all(type(g) is dict for g in groups):
        raise _not_a_run(path, "its groups are not configurations")
    return about


def _not_a_run(path: Path, why: object) -> ConfigError:
    return ConfigError(
        f"{path.parent} is not a run folder: {RUN_FILE} is missing or damaged ({why})."
    )


def fresh_members(configs: Sequence[TrainConfig]) -> tuple[Member, ...]:
    """Return how the members of some groups stand at the start."""
    return tuple(
        Member(name, seed, str(snapshot_stem(Path(), name, len(configs), seed)))
        for name, config in zip(group_names(configs), configs, strict=True)
        for seed in config.seeds
    )


def group_names(configs: Sequence[TrainConfig]) -> list[str]:
    """Return a name for each group: its method, with the task where tasks differ."""
    several = len({config.task.name for config in configs}) > 1
    return [f"{c.task.name}/{c.method}" if several else c.method for c in configs]


def snapshot_stem(folder: Path, group: str, groups: int, seed: int) -> Path:
    """Return the path of a member's policies without `.best` or `.final` and suffix."""
    place = folder / "policies" / group if groups > 1 else folder / "policies"
    return place / f"seed-{seed}"


def snapshot_path(folder: Path, group: str, groups: int, seed: int, kind: str) -> Path:
    """Return the file of a member's `best` or `final` policy."""
    stem = snapshot_stem(folder, group, groups, seed)
    found = sorted(stem.parent.glob(f"{stem.name}.{kind}.*"))
    if not found:
        raise ConfigError(
            f"{folder}: there is no {kind} policy of {group} seed {seed}. If the run is not "
            f"finished, go on with icct train --resume {folder}."
        )
    return found[0]


def keep_snapshot(folder: Path, member: Member, kind: str, actor: Snapshot) -> Path:
    """Write a member as it is now; kinds are `best`, `final`, and `pending-STEP` until scored."""
    stem = folder / member.place
    stem.parent.mkdir(parents=True, exist_ok=True)
    return write_snapshot(actor, stem.with_name(f"{stem.name}.{kind}"))


def kept_snapshot(folder: Path, member: Member, kind: str) -> Snapshot:
    """Return a member as `keep_snapshot` wrote it."""
    stem = folder / member.place
    found = sorted(stem.parent.glob(f"{stem.name}.{kind}.*"))
    if not found:
        raise ConfigError(f"{folder}: there is no {kind} policy of {member.group} {stem.name}.")
    return read_snapshot(found[0])


def remove_pending(folder: Path, but: Sequence[Path] = ()) -> None:
    """Remove the members that waited for a score, but for some files."""
    for file in (folder / "policies").rglob("*.pending-*"):
        if file not in but:
            file.unlink()


def describe_run(configs: tuple[TrainConfig, ...]) -> dict[str, Any]:
    """Return the content of the run file."""
    return {
        "format": FORMAT,
        "version": RUN_VERSION,
        "icct": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "commit": source_commit(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "groups": [config.as_json() for config in configs],
    }


def mark_finished(folder: Path, members: Sequence[Member], elapsed_s: float) -> None:
    """Note in the run file that the run has come to its end, and how."""
    about = read_about(folder)
    about |= {"elapsed_s": round(elapsed_s, 1), "members": [m.as_json() for m in members]}
    write_json(folder / RUN_FILE, about, ConfigError)


def remove_temporaries(folder: Path) -> None:
    """Remove what a kill left half-written; only for the one writer of the folder."""
    for file in folder.rglob(f"{TEMPORARY}*"):
        file.unlink(missing_ok=True)
