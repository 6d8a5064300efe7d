"""The checks of benchmarks/guarantee_soundness.py, small: no wrong proof, no wrong refutation."""

from benchmarks.guarantee_soundness import check_known, check_sabotage, trajectories_outside
from icct.guarantee import Asked, Proved, guarantee
from icct.plant import read_plant
from icct.plant.falsify import Effort
from icct.zoo import load_policy


def test_random_plants_and_trees_with_known_answers() -> None:
    answers = check_known(4, 101, 16)
    assert sum(answers.values()) == 8
    assert answers["false: proved"] == 0
    assert answers["true: refuted"] == 0
    assert answers["true: proved"] >= 3


def test_sabotaged_controllers_are_never_proved() -> None:
    answers = check_sabotage(3, 2, only=("single-pendulum", "tora"))
    assert sum(answers.values()) == 3
    assert set(answers) <= {"refuted, replays", "unknown"}
    assert answers["refuted, replays"] >= 2


def test_trajectories_with_jumping_disturbances_stay_inside_the_tube() -> None:
    plant, policy = read_plant("plant:unicycle"), load_policy("zoo:plant/unicycle")
    asked = Asked(plant.questions[0], plant.start, to_the_end=True)
    answer = guarantee(plant, policy, asked, most_boxes=4, effort=Effort(samples=8, generations=1))
    assert isinstance(answer, Proved)
    assert trajectories_outside(plant, policy, answer, 500)["outside"] == 0
