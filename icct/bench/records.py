"""A finished run → one record for each member: everything a table or a doubt may ask for."""

import csv
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from icct import __version__
from icct.commit import source_commit
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.evaluate import Evaluation, evaluate
from icct.files import read_text, write_atomically
from icct.learn.config import TrainConfig
from icct.learn.metrics import COLUMNS
from icct.learn.run import group_names, read_about, read_configs, snapshot_path
from icct.learn.snapshot import read_snapshot
from icct.policy.file import read_policy, write_policy
from icct.seeds import FRESH

KINDS = ("best", "final")
LARGEST = 2**30  # bytes of measurements


def record_run(
    run: Path,
    results: Path,
    episodes: int,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
    task: Task | None = None,
) -> list[Path]:
    """Score a run's policies on fresh episodes and write a record for each member.

    A task that is somebody's code has to be named.
    """
    configs, about = read_configs(run, task), read_about(run)
    names, curves = group_names(configs), _curves(run)
    total = sum(config.members for config in configs) * len(KINDS) * episodes
    done, paths = 0, []

    def show(finished: int, _: int) -> None:
        if progress is not None:
            progress(done + finished, total)

    for config, name in zip(configs, names, strict=True):
        for seed in config.seeds:
            fresh: dict[str, Any] = {}
            for kind in KINDS:
                path = snapshot_path(run, name, len(configs), seed, kind)
                scored = evaluate(
                    read_snapshot(path),
                    config.task,
                    episodes=episodes,
                    seed=FRESH + seed,
                    workers=workers,
                    progress=show,
                )
                done += episodes
                fresh[kind] = scored_values(scored)
                if path.suffix == ".json":  # a policy of a few kB belongs to its record
                    place = results / "policies" / f"{_name(config, seed)}.{kind}.json"
                    place.parent.mkdir(parents=True, exist_ok=True)
                    write_policy(read_policy(path), place)
            curve = curves.get((name, seed), [])
            paths.append(
                write_record(
                    results,
                    f"{_name(config, seed)}.json",
                    _record(config, seed, about, curve, fresh),
                )
            )
    return paths


def _record(
    config: TrainConfig,
    seed: int,
    about: dict[str, Any],
    curve: list[tuple[int, float]],
    fresh: dict[str, Any],
) -> dict[str, Any]:
    best = max(curve, key=lambda point: point[1], default=(None, None))
    return {
        "format": "icct-record",
        "version": 1,
        "task": config.task.name,
        "method": config.method,
        "recipe": config.recipe,
        "seed": seed,
        "config": config.as_json(),
        "commit": about.get("commit"),
        "versions": {
            "icct": __version__,
            "torch": about.get("torch"),
            "python": platform.python_version(),
        },
        "machine": {key: about.get(key) for key in ("cores", "gpu")},
        "elapsed_s": about.get("elapsed_s"),  # of the whole run, all members together
        "policy": "deterministic, crisp" if config.method.startswith("icct") else "deterministic",
        "best_checkpoint": {
            "step": best[0],
            "mean": best[1],
            "episodes": config.evaluation.evaluate_episodes,
            "evaluations": len(curve),
        },
        "fresh": fresh,
        "curve": curve,
    }


def scored_values(scored: Evaluation) -> dict[str, Any]:
    """Return what a record keeps of an evaluation."""
    values = scored.as_dict()
    kept = ("seed", "episodes", "mean", "standard_error", "median", "min", "max", "returns")
    return {key: values[key] for key in kept}


def _curves(run: Path) -> dict[tuple[str, int], list[tuple[int, float]]]:
    """Return (step, score) of every evaluation, by group and seed."""
    curves: dict[tuple[str, int], list[tuple[int, float]]] = {}
    path = run / "metrics.csv"
    lines = read_text(path, "a file of measurements", LARGEST, ConfigError).splitlines()
    try:
        rows = csv.DictReader(lines, strict=True)
        if rows.fieldnames != list(COLUMNS):
            raise ValueError(f"the first line names {rows.fieldnames}")
        for row in rows:
            if row["metric"] == "score":
                curve = curves.setdefault((row["group"], int(row["seed"])), [])
                curve.append((int(row["step"]), float(row["value"])))
    except (csv.Error, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path}: damaged, expected lines of {', '.join(COLUMNS)} ({error})."
        ) from None
    return curves


def _name(config: TrainConfig, seed: int) -> str:
    return f"{config.task.name}.{config.method}.{config.recipe}.seed-{seed}"


def made_with() -> dict[str, Any]:
    """Return the commit and the versions that a record is made with."""
    versions = {"icct": __version__, "python": platform.python_version()}
    return {"commit": source_commit(), "versions": versions}


def write_record(results: Path, name: str, record: dict[str, Any]) -> Path:
    """Write a record; the file is complete or untouched."""
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{results}: cannot be written: {error.strerror}.") from None
    write_atomically(results / name, json.dumps(record) + "\n", ConfigError)
    return results / name
