"""A record → where its configuration is not that of the present preset: no row may mix two."""

from typing import Any

from icct.envs.card import task_from_values
from icct.learn.config import TrainConfig, config_from_json, make_config

OF_TREES = ("leaves", "sharpness", "temperature", "l1")
OF_PERCEPTRONS = ("hidden",)
LEFT_OPEN = ("l1", "target_entropy")
SHOWN_BESIDE = ("seeds", "steps")  # have columns of their own


def deviations(record: dict[str, Any]) -> str:
    """Return the options that differ from the preset of the record's recipe; "" when none does."""
    card = record["config"]["task"]
    named = task_from_values(card) if isinstance(card, dict) else None
    config = config_from_json(record["config"], "record", named)  # only read: no code is run
    preset = make_config(config.task, config.method, recipe=config.recipe, seeds=config.seeds)
    without_effect = OF_PERCEPTRONS if config.is_tree else OF_TREES
    return ", ".join(
        f"{name} {_text(value)}"
        for name, value in config.as_json().items()
        if _effective(config, name) != _effective(preset, name)
        and name not in (*SHOWN_BESIDE, *without_effect)
    )


def _effective(config: TrainConfig, name: str) -> Any:
    """Return an option's value, the method's own where it was left open."""
    if name == "options":  # of the environment
        return config.task.options
    return config.per_member(name) if name in LEFT_OPEN else config.value(name)


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
