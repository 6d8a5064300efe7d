"""A record → where its configuration is not that of the present preset: no row may mix two."""

from typing import Any

from icct.learn.config import config_from_json, make_config

OF_TREES = ("leaves", "sharpness", "temperature", "l1")
OF_PERCEPTRONS = ("hidden",)
SHOWN_BESIDE = ("seeds", "steps")  # have columns of their own


def deviations(record: dict[str, Any]) -> str:
    """Return the options that differ from the preset of the record's recipe; "" when none does."""
    config = config_from_json(record["config"], "record")
    preset = make_config(config.task, config.method, recipe=config.recipe).as_json()
    without_effect = OF_PERCEPTRONS if config.is_tree else OF_TREES
    return ", ".join(
        f"{name} {_text(value)}"
        for name, value in config.as_json().items()
        if value != preset[name] and name not in (*SHOWN_BESIDE, *without_effect)
    )


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
