"""How long a training takes here, said before it begins."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from icct.cli.progress import say_estimate

if TYPE_CHECKING:
    from icct.learn.config import TrainConfig

WORTH_MEASURING = 20_000  # steps; less is done before it is measured


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
