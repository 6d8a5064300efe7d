"""Small plants with known answers, written as files are."""

from fractions import Fraction

from icct.plant.file import plant_from_toml
from icct.plant.plant import Plant
from icct.plant.question import Kind, Question
from icct.policy import Action, Policy
from icct.policy.parts import Controller, Leaf, Node
from icct.verify.property import Property

HEAD = """
format = "icct-plant"
version = 1
name = "tank"
summary = "A tank that fills and empties."
source = "Made up."
leaves_out = ["everything else"]
"""
LEVEL = '[states.level]\nunit = "m"\nrate = "{rate}"\nstart = [0.5, 1]\n'
REST = """
[actions.inflow]
unit = "m/s"
low = -1
high = 1

[observations.level]
unit = "m"
low = 0
high = 3
"""


def tank_text(
    rate: str = "inflow - 0.5*level", *, top: str = "period = 0.1", more: str = ""
) -> str:
    """Return the file of a plant with one state, by default one that settles at 2 inflow."""
    return f"{HEAD}{top}\n{LEVEL.format(rate=rate)}{REST}{more}"


def tank(rate: str = "inflow - 0.5*level", *, top: str = "period = 0.1", more: str = "") -> Plant:
    return plant_from_toml(tank_text(rate, top=top, more=more).encode())


def linear(plant: Plant, weights: dict[str, float], bias: float = 0.0) -> Policy:
    """Return a policy of one leaf and one action."""
    places = {feature.name: place for place, feature in enumerate(plant.features)}
    rule = Controller(tuple((places[name], weight) for name, weight in weights.items()), bias)
    nodes: tuple[Node, ...] = (Leaf((rule,)),)
    return Policy("linear", plant.features, plant.actions, nodes, squash="clip")


def ask(kind: Kind, condition: str, seconds: float) -> Question:
    return Question(kind, Property(condition), Fraction(str(seconds)))


INFLOW = Action("inflow", "m/s", -1, 1)
