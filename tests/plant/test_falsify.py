"""The falsifier: wrong controllers fall with a trajectory that replays; right ones survive."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from icct.errors import PlantError
from icct.plant import read_plant
from icct.plant.falsify import SURE, Effort, falsify, kept_by, replay
from icct.plant.margin import margin
from icct.plant.question import Question
from icct.plant.simulate import simulate
from icct.verify.property import Property
from tests.plant.models import ask, linear, tank

QUICK = Effort(samples=16, generations=6, size=16)
LEAK = '[disturbances.leak]\nunit = "m/s"\nlow = -0.1\nhigh = 0.1\n'


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # inflow 0.5: the level goes from 0.5 ... 1 towards 1, e-fold in 2 s
        (ask("always", "level >= 0.5", 3), None),
        (ask("always", "level >= 0.6", 3), -0.1),
        (ask("always", "when time >= 1 then level >= 0.6", 3), None),
        (ask("always", "when time >= 1 then level >= 0.7", 3), 0.6967 - 0.7),
        (ask("never", "level > 1", 3), None),
        (ask("never", "level > 0.9 and level < 0.95", 3), None),  # passed, but from 0.9 on
        (ask("reach", "level >= 0.88", 3), None),
        (ask("reach", "level >= 0.95", 3), 0.8884 - 0.95),
        (ask("always", "inflow <= 0.5", 1), None),
        (ask("never", "inflow > 0.4", 1), -0.1),
    ],
)
def test_questions_with_known_answers(question: Question, expected: float | None) -> None:
    plant = tank()
    policy = linear(plant, {}, 0.5)
    found = falsify(plant, policy, question, effort=QUICK)
    if question.condition.text.startswith("level > 0.9 and"):
        assert found.refuted  # every level between is passed
        return
    assert found.refuted == (expected is not None)
    if expected is not None:
        assert found.worst.margin == pytest.approx(expected, abs=0.02)
        assert replay(plant, policy, question, found.worst) < -SURE


def test_the_worst_start_lies_inside_and_is_found() -> None:
    """The margin is |start - 0.6180|, so that neither a corner nor the middle is worst."""
    plant = tank("0*inflow")
    question = ask("always", "abs(level - 0.618) >= 0.0003", 0.1)
    found = falsify(plant, linear(plant, {}), question, effort=Effort(samples=64))
    assert found.refuted
    assert found.worst.start[0] == pytest.approx(0.618, abs=3e-4)


def test_the_worst_disturbance_is_found() -> None:
    """The leak must rise and then fall again; no constant one breaks the condition."""
    plant = tank("inflow + leak", more=LEAK)
    policy = linear(plant, {}, 0.0)
    box = [(Fraction(1), Fraction(1))]
    question = ask("always", "level <= 1.095", 1)
    found = falsify(plant, policy, question, box, QUICK)
    assert found.refuted
    assert found.worst.margin == pytest.approx(-0.005, abs=1e-6)
    assert replay(plant, policy, question, found.worst) == pytest.approx(found.worst.margin)
    assert not falsify(plant, policy, ask("always", "level <= 1.1001", 1), box, QUICK).refuted
    told = json.loads(json.dumps(found.as_json(plant)))
    assert told["start"] == {"level": 1.0}
    assert len(told["disturbances"]) == 10


def test_what_leaves_the_model_is_counted_and_refutes_nothing() -> None:
    plant = tank("2*inflow + level*1", top='period = 0.1\nguard = "level <= 2"')
    policy = linear(plant, {}, 1.0)
    found = falsify(plant, policy, ask("always", "level <= 2.5", 3), effort=QUICK)
    assert not found.refuted
    assert found.left_model == found.trajectories
    blowing = tank("50*level^2")
    found = falsify(blowing, linear(blowing, {}), ask("reach", "level < 0", 3), effort=QUICK)
    assert not found.refuted
    assert found.left_model == found.trajectories


def test_a_name_that_the_plant_does_not_have_is_refused() -> None:
    plant = tank()
    with pytest.raises(PlantError, match=r"'levl' is nothing of plant tank: .*'level'"):
        falsify(plant, linear(plant, {}), ask("always", "levl >= 0", 1))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("abs(x) <= 1 and y > 0", {"x": 0.25, "y": 0.5}),
        ("x > 1 or y > 1 or not (x < 0.5)", {"x": 0.7, "y": 0.9}),
        ("when x > 0 then y > x", {"x": 0.25, "y": 0.2}),
    ],
)
def test_the_margin_has_the_sign_of_the_condition(text: str, values: dict[str, float]) -> None:
    asked = Property(text)
    for signs in product((-1, 1), repeat=2):
        moved = {name: s * value for (name, value), s in zip(values.items(), signs, strict=True)}
        assert (margin(asked.violation, moved) < 0) == asked.holds(moved)


def test_time_has_no_margin() -> None:
    asked = Property("when time >= 0.5 then x <= 1").violation
    late = margin(asked, {"time": np.array([0.4, 0.5, 0.6]), "x": np.array([9.0, 9.0, 0.5])})
    assert late.tolist() == [-np.inf, 8.0, -0.5]


@pytest.mark.parametrize("name", ["single-pendulum", "acc"])
def test_sabotaged_controllers_fall(name: str) -> None:
    """Laws whose signs are turned round or whose action is stuck at one end."""
    plant = read_plant(f"plant:{name}")
    (question,) = plant.questions
    good = {"single-pendulum": ({"theta": -1.0, "omega": -0.7}, 0.3), "acc": ({}, 0.0)}[name]
    effort = Effort(samples=16, generations=2, size=16)
    assert not falsify(plant, linear(plant, *good), question, effort=effort).refuted
    stuck = linear(plant, {}, plant.actions[0].high)
    found = falsify(plant, stuck, question, effort=effort)
    assert found.refuted
    assert replay(plant, stuck, question, found.worst) < -SURE


def test_reach_is_not_refuted_by_a_goal_between_two_samples() -> None:
    plant = tank("50*inflow")
    policy = linear(plant, {}, 1.0)
    question = ask("reach", "level >= 3 and level <= 3.01", 1)  # passed in 0.2 ms
    went = simulate(plant, policy, [[0.5]], question.time)
    assert kept_by(question, went)[0][0] > 0
