"""How a tree is trained. Needs torch; nothing outside this folder, but `sb3` and `bench`, does."""

from icct.learn.config import TrainConfig, make_config
from icct.learn.freeze import crispify, freeze, thaw
from icct.learn.methods import METHODS, TreeConfig, tree_config
from icct.learn.module import TreeModule
from icct.learn.run import Run
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
    "resume",
    "thaw",
    "train",
    "tree_config",
]
