"""Models of what is controlled: plant files, what they mean, and how they move.

`read_plant(path)` gives a `Plant`, a value: states with their rates, actions, disturbances,
observations, the period of the controller. Its expressions can be evaluated over any kind of
number: see `expression.py`.
"""

from icct.plant.expression import Arithmetic, Expression, compiled, evaluate
from icct.plant.file import read_plant, shipped_plants
from icct.plant.plant import Box, Disturbance, Episode, Observation, Plant, State

__all__ = [
    "Arithmetic",
    "Box",
    "Disturbance",
    "Episode",
    "Expression",
    "Observation",
    "Plant",
    "State",
    "compiled",
    "evaluate",
    "read_plant",
    "shipped_plants",
]
