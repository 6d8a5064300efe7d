"""How a tree is trained. Needs torch; nothing outside this folder does."""

from icct.learn.freeze import crispify, freeze, thaw
from icct.learn.methods import METHODS, TreeConfig, tree_config
from icct.learn.module import TreeModule

__all__ = ["METHODS", "TreeConfig", "TreeModule", "crispify", "freeze", "thaw", "tree_config"]
