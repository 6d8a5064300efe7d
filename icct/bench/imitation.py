"""A run of teachers → CART, DAgger and linear-leaf trees distilled from each, scored afresh."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from icct.bench.records import made_with, scored_values, write_record
from icct.bench.statistics import mean_and_error
from icct.bench.tables import published
from icct.distill import Request, distill
from icct.envs.task import Task
from icct.errors import ConfigError, FileError
from icct.evaluate import evaluate
from icct.files import read_json
from icct.learn.config import TrainConfig
from icct.learn.run import group_names, read_configs, snapshot_path
from icct.learn.snapshot import Snapshot, read_snapshot
from icct.policy.file import write_policy
from icct.seeds import FRESH


@dataclass(frozen=True)
class Imitated:
    """One student of one teacher: who, how large, from how much, and what both return."""

    task: str
    method: str
    seed: int
    leaves: int
    pairs: int
    mean: float
    teacher_mean: float


def imitate_run(
    run: Path,
    results: Path,
    requests: Sequence[Request],
    episodes: int,
    method: str = "mlp-max",
    progress: Callable[[int, int], None] | None = None,
) -> list[Imitated]:
    """Distil every teacher of a run by every request; write a record and the tree of each.

    Teachers are the best policies of one method. The seed of each is also that of its students;
    the task is the run's. Students that have a record are not made again.
    """
    configs = read_configs(run)
    teachers = [
        (config, name, seed)
        for config, name in zip(configs, group_names(configs), strict=True)
        if config.method == method
        for seed in config.seeds
    ]
    if not teachers:
        raise ConfigError(f"{run} has no {method} to teach; see --teachers.")
    folder, found = results / "imitation", []
    (folder / "policies").mkdir(parents=True, exist_ok=True)
    for config, name, seed in teachers:
        path = snapshot_path(run, name, len(configs), seed, "best")
        for request in requests:
            asked = replace(request, seed=seed, teacher=f"{name} {path.name}")
            known = _read(folder, config.task, asked)
            found.append(known or _imitate(folder, asked, read_snapshot(path), config, episodes))
            if progress is not None:
                progress(len(found), len(teachers) * len(requests))
    return found


def _imitate(
    folder: Path, asked: Request, teacher: Snapshot, config: TrainConfig, episodes: int
) -> Imitated:
    """Distil, score teacher and student on the same fresh episodes, and write the record."""
    fresh_seed = FRESH + asked.seed
    task = config.task
    taught = evaluate(teacher, task, episodes=episodes, seed=fresh_seed)
    result = distill(teacher, task, asked)
    fresh = evaluate(result.policy, task, episodes=episodes, seed=fresh_seed)
    chosen = result.rounds[result.best]
    one = Imitated(
        task.name,
        f"{asked.method} ({asked.leaves} leaves)",
        asked.seed,
        chosen.leaves,
        chosen.pairs,
        fresh.mean,
        taught.mean,
    )
    record = {
        "request": _as_json(task, asked),
        "result": asdict(one),
        "fresh": scored_values(fresh),
        "teacher": config.as_json(),
        **made_with(),
    }
    write_policy(result.policy, folder / "policies" / _file(task, asked))
    write_record(folder, _file(task, asked), record)
    return one


def _read(folder: Path, task: Task, asked: Request) -> Imitated | None:
    """Return what a record of the same request says, so that a stopped bench goes on."""
    try:
        record = read_json(folder / _file(task, asked), "a record")
        return Imitated(**record["result"]) if record["request"] == _as_json(task, asked) else None
    except (FileError, LookupError, TypeError):
        return None


def _file(task: Task, asked: Request) -> str:
    return f"{task.name}.{asked.method}.{asked.leaves}-leaves.seed-{asked.seed}.json"


def _as_json(task: Task, asked: Request) -> dict[str, Any]:
    return {**asdict(asked), "task": task.name, "options": dict(task.options)}


def imitation_table(imitated: Sequence[Imitated]) -> str:
    """Return the students as Markdown, beside the paper's."""
    lines = [
        "| task | method | seeds | leaves | pairs | return | teacher | paper |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for task, method in dict.fromkeys((one.task, one.method) for one in imitated):
        rows = [one for one in imitated if (one.task, one.method) == (task, method)]
        leaves = sorted({one.leaves for one in rows})
        cells = [
            f"{leaves[0]} to {leaves[-1]}" if len(leaves) > 1 else str(leaves[0]),
            f"{mean(one.pairs for one in rows):,.0f}",
            mean_and_error([one.mean for one in rows]),
            mean_and_error([one.teacher_mean for one in rows]),
            published(task, method.split(" ")[0]),
        ]
        lines.append(f"| {task} | {method} | {len(rows)} | {' | '.join(cells)} |")
    return "\n".join(lines)
