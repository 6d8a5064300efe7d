"""How long a training or an evaluation takes here, said before it begins."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from icct.cli.progress import say_estimate

if TYPE_CHECKING:
    from icct.envs.task import Task
    from icct.learn.config import TrainConfig

WORTH_MEASURING = 20_000  # steps; less is done before it is measured


def say_episodes(task: "Task", episodes: int, workers: int = 1) -> None:
    """Say how long episodes take at most, where they are many."""
    from icct.envs.pace import episodes_s

    if episodes * task.horizon >= WORTH_MEASURING and episodes > 1 and workers > 0:
        what = f"{episodes:,} episodes of at most {task.horizon:,} steps"
        say_estimate(what, episodes_s(task, episodes, workers))


def say_how_long(configs: "Sequence[TrainConfig]", device: str) -> None:
    """Say what a training does and how long that takes, measured on a CPU."""
    from icct.recipe.plan import training_pace

    steps = max(config.steps for config in configs)
    if steps < WORTH_MEASURING:
        return
    paces = [training_pace(config, device) for config in configs]
    seconds = [c.steps / pace for c, pace in zip(configs, paces, strict=True) if pace]
    members = sum(config.members for config in configs)
    what = f"{steps:,} steps of {members} member{'s' * (members > 1)}"
    say_estimate(what, sum(seconds) if len(seconds) == len(configs) else None)
