"""How a tree is trained. Needs torch; nothing outside this folder, but `sb3`, does.

The public names are loaded when first used, so that reading a configuration loads no torch.
"""

import importlib
from typing import Any

_HOME = {
    "METHODS": "methods",
    "TreeConfig": "methods",
    "tree_config": "methods",
    "TreeModule": "module",
    "crispify": "freeze",
    "freeze": "freeze",
    "thaw": "freeze",
    "TrainConfig": "config",
    "make_config": "config",
    "Run": "train",
    "resume": "train",
    "train": "train",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"icct.learn.{_HOME[name]}"), name)
