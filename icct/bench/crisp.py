"""A run of fuzzy or noisy trees → how much is lost when they are made crisp after training."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from icct.baselines import FuzzyTreeActor, NoisyTreeActor
from icct.bench.records import made_with, scored_values, write_record
from icct.bench.statistics import mean_and_error
from icct.bench.tables import published
from icct.evaluate import evaluate
from icct.learn.posthoc import crisp_policy
from icct.learn.run import group_names, read_configs, snapshot_path
from icct.learn.snapshot import read_snapshot
from icct.policy import Policy, Provenance
from icct.policy.file import write_policy
from icct.seeds import FRESH


@dataclass(frozen=True)
class Compared:
    """One seed: what the tree returns as it was trained, and made crisp."""

    task: str
    method: str
    seed: int
    as_trained: float
    crisp: float


def compare_crisp(
    run: Path,
    results: Path,
    episodes: int,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Compared]:
    """Score the best policies of a run as trained and crisp on the same fresh episodes.

    A tree that was crisp while it learned is one and the same. Each seed leaves a record, and the
    crisp policy beside it.
    """
    configs = read_configs(run)
    names = group_names(configs)
    todo = [
        (config, name, seed)
        for config, name in zip(configs, names, strict=True)
        if config.is_tree
        for seed in config.seeds
    ]
    folder, found = results / "crisp", []
    (folder / "policies").mkdir(parents=True, exist_ok=True)
    for number, (config, name, seed) in enumerate(todo):
        trained = read_snapshot(snapshot_path(run, name, len(configs), seed, "best"))
        crisp = trained
        if isinstance(trained, FuzzyTreeActor | NoisyTreeActor):
            crisp = crisp_policy(trained, Provenance(config.task.name, config.method, seed))
        play = partial(
            evaluate, task=config.task, episodes=episodes, seed=FRESH + seed, workers=workers
        )
        fresh = {"as trained": scored_values(play(trained))}
        same = crisp is trained
        fresh["crisp"] = fresh["as trained"] if same else scored_values(play(crisp))
        about = {"task": config.task.name, "method": config.method, "seed": seed, "fresh": fresh}
        about |= made_with()
        write_record(folder, f"{config.task.name}.{config.method}.seed-{seed}.json", about)
        assert isinstance(crisp, Policy)  # whatever is a tree has become one
        write_policy(
            crisp, folder / "policies" / f"{config.task.name}.{config.method}.seed-{seed}.json"
        )
        means = [fresh[kind]["mean"] for kind in ("as trained", "crisp")]
        found.append(Compared(config.task.name, config.method, seed, *means))
        if progress is not None:
            progress(number + 1, len(todo))
    return found


def crisp_table(compared: list[Compared]) -> str:
    """Return what was compared as Markdown, beside the paper's numbers."""
    lines = [
        "| task | method | seeds | as trained | crisp | paper, as trained | paper, crisp |",
        "|---|---|---|---|---|---|---|",
    ]
    kinds = dict.fromkeys((one.task, one.method) for one in compared)
    for task, method in kinds:
        rows = [one for one in compared if (one.task, one.method) == (task, method)]
        cells = [
            mean_and_error([one.as_trained for one in rows]),
            mean_and_error([one.crisp for one in rows]),
            published(task, method),
            published(task, f"{method}-crisp"),
        ]
        lines.append(f"| {task} | {method} | {len(rows)} | {' | '.join(cells)} |")
    return "\n".join(lines)
