"""The oracle of a task: the best of its perceptrons (MLP-max), which CART and DAgger learn from.

One network of 300 kB for each task is kept with the records, so that distillation can be repeated
without training it again: `results/oracles/TASK.safetensors`, and what it is in `TASK.json`.
"""

from pathlib import Path
from typing import Any

from icct.baselines import PerceptronActor, read_actor
from icct.errors import ConfigError
from icct.files import read_json, write_atomically, write_json
from icct.learn.config import TrainConfig
from icct.learn.run import read_run, snapshot_path

METHOD, RECIPE = "mlp-max", "paper"
FOLDER = "oracles"


def oracle_file(results: Path, task: str) -> Path:
    """Return where the oracle of a task is kept."""
    return results / FOLDER / f"{task}.safetensors"


def keep_oracle(run: Path, results: Path, config: TrainConfig, name: str, groups: int) -> None:
    """Keep the best perceptron of a run if it is better than the one that is kept.

    The best is that of the highest evaluation while training, as in the paper.
    """
    if (config.method, config.recipe) != (METHOD, RECIPE):
        return
    members = [one for one in read_run(run, config.task).members if one.group == name]
    best = max(members, key=lambda one: -float("inf") if one.best_score is None else one.best_score)
    place = oracle_file(results, config.task.name)
    kept = oracle_card(place)
    if best.best_score is None or (kept and kept["best_checkpoint"] >= best.best_score):
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    path = snapshot_path(run, name, groups, best.seed, "best")
    write_atomically(place, path.read_bytes(), ConfigError)
    card = {
        "task": config.task.name,
        "method": METHOD,
        "recipe": RECIPE,
        "seed": best.seed,
        "step": best.best_step,
        "best_checkpoint": best.best_score,
        "of_seeds": list(config.seeds),
    }
    write_json(place.with_suffix(".json"), card, ConfigError)


def oracle_card(place: Path) -> dict[str, Any] | None:
    """Return what is known of an oracle; None where there is none."""
    if not place.exists():
        return None
    card: dict[str, Any] = read_json(place.with_suffix(".json"), "an oracle's card")
    return card


def read_oracle(results: Path, task: str) -> PerceptronActor:
    """Return the oracle of a task, or say how to make it."""
    place = oracle_file(results, task)
    if not place.exists():
        raise ConfigError(
            f"{place} is missing: CART and DAgger learn from the best of five perceptrons. Make it "
            f"with icct bench table1 --tasks {task} --methods mlp-max dt"
        )
    actor = read_actor(place)
    if not isinstance(actor, PerceptronActor):
        raise ConfigError(f"{place} is not a perceptron. Remove it, and make it anew.")
    return actor
