"""A finished run → one record for each member: everything a table or a doubt may ask for."""

import csv
import json
import platform
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

from icct import __version__
from icct.baselines import FuzzyTreeActor, NoisyTreeActor
from icct.bench.oracles import keep_oracle
from icct.bench.sizes import Size, size_of
from icct.commit import source_commit
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.evaluate import Evaluation, evaluate
from icct.files import read_text, write_atomically
from icct.learn.config import TrainConfig
from icct.learn.metrics import COLUMNS
from icct.learn.posthoc import crisp_policy
from icct.learn.run import group_names, read_about, read_configs, snapshot_path
from icct.learn.snapshot import Snapshot, read_snapshot
from icct.policy import Policy, Provenance
from icct.seeds import FRESH

KINDS = ("best", "final")
LARGEST = 2**30  # bytes of measurements
LARGEST_KEPT = 2**16  # bytes of a policy that belongs to its record; large networks do not
Curve = list[tuple[int, float]]  # (step, return)


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
    members = sum(config.members for config in configs)
    total = members * len(KINDS) * episodes
    done, paths = 0, []

    def score(actor: Any, config: TrainConfig, seed: int) -> dict[str, Any]:
        scored = evaluate(
            actor,
            config.task,
            episodes=episodes,
            seed=FRESH + seed,
            workers=workers,
            progress=lambda finished, _: progress and progress(done + finished, total),
        )
        return scored_values(scored)

    for config, name in zip(configs, names, strict=True):
        for seed in config.seeds:
            fresh: dict[str, Any] = {}
            crisp: dict[str, Any] = {}
            for kind in KINDS:
                path = snapshot_path(run, name, len(configs), seed, kind)
                actor = read_snapshot(path)
                fresh[kind] = score(actor, config, seed)
                if isinstance(actor, FuzzyTreeActor | NoisyTreeActor):
                    made = crisp_policy(actor, Provenance(config.task.name, config.method, seed))
                    crisp[kind] = score(made, config, seed)
                done += episodes
                _keep(path, results / "policies" / f"{_name(config, seed)}.{kind}{path.suffix}")
            record = _record(config, seed, about | {"members": members}, fresh, actor)
            evaluated, trained = curves.get((name, seed), ([], []))
            record |= {"crisp": crisp} if crisp else {}
            record |= _checkpoint(config, evaluated)
            record |= {"curve": evaluated, "training_curve": _binned(trained, config)}
            paths.append(write_record(results, f"{_name(config, seed)}.json", record))
        keep_oracle(run, results, config, name, len(configs))
    return paths


def _keep(path: Path, place: Path) -> None:
    """Copy a policy beside the records if it is small."""
    if path.stat().st_size <= LARGEST_KEPT:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, path.read_bytes(), ConfigError)


def _record(
    config: TrainConfig,
    seed: int,
    about: dict[str, Any],
    fresh: dict[str, Any],
    actor: Snapshot,
) -> dict[str, Any]:
    size: Size = size_of(config)
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
        "started": about.get("started"),
        "elapsed_s": about.get("elapsed_s"),  # of the whole run, all members together
        "members": about["members"],  # of the whole run
        "leaves": size.leaves,
        "parameters": size.parameters,
        "policy": "deterministic, crisp" if isinstance(actor, Policy) else "deterministic",
        "fresh": fresh,
    }


def _checkpoint(config: TrainConfig, curve: Curve) -> dict[str, Any]:
    best = max(curve, key=lambda point: point[1], default=(None, None))
    return {
        "best_checkpoint": {
            "step": best[0],
            "mean": best[1],
            "episodes": config.evaluation.evaluate_episodes,
            "evaluations": len(curve),
        }
    }


def _binned(episodes: Curve, config: TrainConfig) -> Curve:
    """Return the mean return of the training episodes that ended between two evaluations."""
    bins: dict[int, list[float]] = defaultdict(list)
    every = config.evaluation.evaluate_every
    for step, value in episodes:
        bins[-(-step // every) * every].append(value)
    return [(step, round(mean(values), 3)) for step, values in sorted(bins.items())]


def scored_values(scored: Evaluation) -> dict[str, Any]:
    """Return what a record keeps of an evaluation."""
    values = scored.as_dict()
    kept = ("seed", "episodes", "mean", "standard_error", "median", "min", "max", "returns")
    return {key: values[key] for key in kept}


def _curves(run: Path) -> dict[tuple[str, int], tuple[Curve, Curve]]:
    """Return (step, return) of every evaluation and training episode, by group and seed."""
    curves: dict[tuple[str, int], tuple[Curve, Curve]] = {}
    path = run / "metrics.csv"
    lines = read_text(path, "a file of measurements", LARGEST, ConfigError).splitlines()
    try:
        rows = csv.DictReader(lines, strict=True)
        if rows.fieldnames != list(COLUMNS):
            raise ValueError(f"the first line names {rows.fieldnames}")
        for row in rows:
            if row["metric"] in ("score", "episode_return"):
                pair = curves.setdefault((row["group"], int(row["seed"])), ([], []))
                curve = pair[row["metric"] == "episode_return"]
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
