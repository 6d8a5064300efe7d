"""How a tree is trained. Needs torch; nothing outside this folder, but `sb3` and `bench`, does.

Its public names are loaded when they are asked for: options of training, which need no torch, can
be read without it.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from icct.errors import MissingExtraError

if TYPE_CHECKING:
    from icct.learn.config import TrainConfig, make_config
    from icct.learn.freeze import crispify, freeze
    from icct.learn.methods import METHODS, TreeConfig, tree_config
    from icct.learn.module import TreeModule
    from icct.learn.run import Run
    from icct.learn.thaw import thaw
    from icct.learn.train import resume, train

__all__ = [
    "METHODS",
    "Run",
    "TrainConfig",
    "TreeConfig",
    "TreeModule",
    "crispify",
    "freeze",
    "make_config",
    "require_torch",
    "resume",
    "thaw",
    "train",
    "tree_config",
]
_HOMES = {
    "config": ("TrainConfig", "make_config"),
    "freeze": ("crispify", "freeze"),
    "methods": ("METHODS", "TreeConfig", "tree_config"),
    "module": ("TreeModule",),
    "run": ("Run",),
    "thaw": ("thaw",),
    "train": ("resume", "train"),
}


def require_torch() -> None:
    """Refuse in words to go on without torch."""
    if find_spec("torch") is None:
        raise MissingExtraError(
            'Training needs PyTorch. Install it with: pip install "icct[train]"'
        )


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            require_torch()
            return getattr(import_module(f"icct.learn.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
