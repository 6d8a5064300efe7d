"""What we compare with: actors that are no readable tree, in numpy, with the same `act`."""

from icct.baselines.file import read_actor, write_actor
from icct.baselines.fuzzy_tree import FuzzyTreeActor
from icct.baselines.noisy_tree import NoisyTreeActor
from icct.baselines.perceptron import PerceptronActor

__all__ = ["FuzzyTreeActor", "NoisyTreeActor", "PerceptronActor", "read_actor", "write_actor"]
