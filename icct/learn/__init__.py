"""How a tree is trained. Needs torch; nothing outside this folder, but `sb3` and `bench`, does."""

from importlib.util import find_spec

from icct.errors import MissingExtraError

if find_spec("torch") is None:
    raise MissingExtraError('Training needs PyTorch. Install it with: pip install "icct[train]"')

from icct.learn.config import TrainConfig, make_config
from icct.learn.freeze import crispify, freeze
from icct.learn.module import TreeModule
from icct.learn.run import Run
from icct.learn.thaw import thaw
from icct.learn.train import resume, train
from icct.methods import METHODS, TreeConfig, tree_config

__all__ = [
    "METHODS",
    "Run",
    "TrainConfig",
    "TreeConfig",
    "TreeModule",
    "crispify",
    "freeze",
    "make_config",
    "resume",
    "thaw",
    "train",
    "tree_config",
]
