"""What an environment can say about how it looks, as plain numbers: a stage, and bodies on it.

The live view draws them in the browser, in any size and theme; that is sharper and faster than
pictures. Any environment may have the two methods

    stage() -> Stage     what stands still: called after each reset
    poses() -> Poses     where the bodies are: called after each reset and step

An environment with neither is shown by the pictures of `render()`, and one without pictures by its
features over time. Lengths are in any one unit (metres, say), y grows upwards, angles are in
radians, counter-clockwise from the x axis.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NotRequired, TypedDict

from icct.errors import TaskError

Point = tuple[float, float]  # x, y
# road: asphalt, as wide as the line says; edge: the border of an arena, a wall; guide: thin dashes.
LineRole = Literal["road", "edge", "guide"]
# ego: what the policy drives; other: everybody else, coloured by `tint`; target; obstacle.
BodyRole = Literal["ego", "other", "target", "obstacle"]
LINE_ROLES = ("road", "edge", "guide")
BODY_ROLES = ("ego", "other", "target", "obstacle")
MOST_BODIES = 1000
MOST_POINTS = 20_000


class Line(TypedDict):
    """A line of the stage; points of one lane, wall or track in order."""

    points: Sequence[Point]
    role: LineRole
    width: NotRequired[float]  # of a road; other lines are drawn thin
    closed: NotRequired[bool]


class Body(TypedDict):
    """What moves: a rounded rectangle of length and width, or a circle of a radius."""

    role: BodyRole
    length: NotRequired[float]
    width: NotRequired[float]
    radius: NotRequired[float]
    label: NotRequired[str]  # short, written on or beside it


class Tint(TypedDict):
    """What the colours of bodies mean: the fourth number of a pose, from low to high."""

    name: str
    unit: str
    low: float
    high: float


class Stage(TypedDict):
    """What stands still, and what the bodies look like."""

    world: Sequence[float]  # x from, y from, x to, y to: what is always in sight
    lines: Sequence[Line]
    bodies: Mapping[str, Body]  # by the ids that the poses use
    tint: NotRequired[Tint]


# Body → x and y of its centre, its heading, and the number of its tint if it has one. A body
# without a pose is not drawn.
Poses = Mapping[str, Sequence[float]]


def stage_of(env: Any) -> Stage | None:
    """Return the stage of an environment that has one, checked; None without."""
    if not (callable(getattr(env, "stage", None)) and callable(getattr(env, "poses", None))):
        return None
    stage: Stage | None = env.stage()
    if stage is not None:
        check_stage(stage, type(env).__name__)
    return stage


def lane_dividers(lanes: Sequence[Sequence[Point]], width: float) -> list[list[Point]]:
    """Return the lines between lanes that lie side by side: as many points, one width apart."""
    found = []
    for first, second in pairwise(lanes):
        if len(first) == len(second) > 2 and math.dist(first[0], second[0]) < 1.2 * width:
            pairs = zip(first, second, strict=True)
            found.append([((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in pairs])
    return found


def check_stage(stage: Any, where: str) -> None:
    """Refuse a stage that could not be drawn."""
    try:
        numbers = [float(value) for value in stage["world"]]
        if len(numbers) != 4 or not (numbers[0] < numbers[2] and numbers[1] < numbers[3]):
            raise ValueError(f"world is {stage['world']!r}, expected [x from, y from, x to, y to]")
        points = 0
        for line in stage["lines"]:
            _known(line["role"], LINE_ROLES, "a line")
            points += len([(float(x), float(y)) for x, y in line["points"]])
        if points > MOST_POINTS or len(stage["bodies"]) > MOST_BODIES:
            raise ValueError(
                f"{points} points and {len(stage['bodies'])} bodies, expected at most "
                f"{MOST_POINTS} and {MOST_BODIES}"
            )
        for name, body in stage["bodies"].items():
            _known(body["role"], BODY_ROLES, f"body {name!r}")
            if "radius" not in body and not ("length" in body and "width" in body):
                raise ValueError(f"body {name!r} has neither a radius nor length and width")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise TaskError(
            f"{where}: its stage() cannot be drawn ({error}). See icct/envs/stage.py."
        ) from None


def _known(role: str, roles: Sequence[str], what: str) -> None:
    if role not in roles:
        raise ValueError(f"the role of {what} is {role!r}, expected one of {', '.join(roles)}")
