"""train(configurations) → a run folder with a readable policy for every seed; resume goes on."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from icct.envs.find import Named, find_task
from icct.errors import ConfigError
from icct.learn.checkpoint import FILE
from icct.learn.config import TrainConfig
from icct.learn.device import choose_device
from icct.learn.display import display
from icct.learn.loop import OnStatus, Status, Trainer
from icct.learn.run import LOCK_FILE, RUN_FILE, Run, read_about, read_run, remove_temporaries
from icct.lock import only_writer
from icct.stop import stop_requests

__all__ = ["OnStatus", "Status", "resume", "train"]


def train(
    configs: TrainConfig | Sequence[TrainConfig],
    out: str | Path,
    *,
    device: str = "auto",
    workers: int | None = None,
    scoring_workers: int | None = None,
    compile_update: bool | None = None,
    checkpoint_minutes: float = 10.0,
    report: OnStatus | None = None,
    progress: bool = False,
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
        progress: Show how the run stands on the standard error, as `icct train` does.
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
        trainer = Trainer(configs, folder, device, workers, scoring_workers, compile_update)
        with display() if progress else nullcontext(report) as shown:
            return trainer.run(checkpoint_minutes, shown, stop)


def resume(
    folder: str | Path,
    *,
    task: Named | None = None,
    report: OnStatus | None = None,
    progress: bool = False,
    **options: Any,
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
        trainer = Trainer(run.configs, folder, **defaults | options)
        if (folder / FILE).exists():
            trainer.load()
        remove_temporaries(folder)
        with display() if progress else nullcontext(report) as shown:
            return trainer.run(minutes, shown, stop)


def _way_on(folder: Path) -> str:
    if read_about(folder).get("elapsed_s") is not None:
        return "It is finished; choose another folder."
    return f"Continue it with icct train --resume {folder}, or choose another folder."


def _check_unlike(configs: tuple[TrainConfig, ...]) -> None:
    if not configs:
        raise ConfigError("There is no configuration to train.")
    names = [(config.task, config.method) for config in configs]
    if len(set(names)) < len(names):
        raise ConfigError("Two groups have the same task and method; give one more seeds instead.")
