"""Who drives and who is asked; how many pairs a round adds."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from icct.distill.pairs import Lesson, Pairs, collect, drawn
from icct.envs.drivers import Random, find_driver
from icct.envs.episodes import EpisodePool
from icct.envs.find import find_task
from icct.errors import ConfigError
from icct.evaluate import evaluate


class Constant:
    def __init__(self, value: float) -> None:
        self.value, self.begun = value, 0

    def begin(self, seed: int) -> None:
        self.begun += 1

    def act(self, observation: ArrayLike) -> np.ndarray:
        return np.array([self.value])


def test_the_student_drives_and_the_teacher_is_asked() -> None:
    teacher, student = Constant(1.0), Constant(-0.1)
    with EpisodePool(find_task("inverted-pendulum"), 1) as pool:
        pairs, driven = collect(teacher, student, pool, episodes=3, seed=5)
    alone = evaluate(student, "inverted-pendulum", episodes=3, seed=5)
    assert tuple(driven) == alone.episodes  # the teacher's advice changed nothing
    assert len(pairs) == alone.steps
    assert (pairs.actions == 1.0).all()
    assert pairs.observations.dtype == np.float32
    assert teacher.begun == 3


def test_a_teacher_that_drives_is_begun_once_and_gives_its_own_actions() -> None:
    teacher = Constant(0.5)
    lesson = Lesson(teacher, teacher)
    lesson.begin(0)
    assert teacher.begun == 1
    assert lesson.act([0.0] * 4) == [0.5]


def test_aggregation_keeps_everything_in_order() -> None:
    first = Pairs(np.zeros((3, 2), np.float32), np.zeros((3, 1)))
    second = Pairs(np.ones((2, 2), np.float32), np.ones((2, 1)))
    joined = first.joined(second)
    assert len(joined) == 5
    assert joined.actions.ravel().tolist() == [0, 0, 0, 1, 1]


def test_a_teacher_without_actions_is_refused() -> None:
    task = find_task("single-lane-ring")
    teacher = find_driver("driver:none", task)
    with EpisodePool(task, 2) as pool, pytest.raises(ConfigError, match="no action to imitate"):
        collect(teacher, teacher, pool, episodes=1, seed=0)


def test_any_number_of_workers_gives_the_same_pairs() -> None:
    task = find_task("inverted-pendulum")
    found = []
    for workers in (1, 2):
        with EpisodePool(task, workers) as pool:
            found.append(collect(Random(task), Random(task), pool, episodes=5, seed=2))
    (one, _), (two, _) = found
    assert np.array_equal(one.observations, two.observations)
    assert np.array_equal(one.actions, two.actions)


def test_pairs_are_drawn_in_proportion_to_what_an_error_costs() -> None:
    numbers = np.arange(3000)
    pairs = Pairs(numbers[:, None].astype(np.float32), numbers[:, None] / 2)
    costs = np.where(numbers < 1000, 0.0, np.where(numbers < 2000, 1.0, 3.0))
    found = drawn(pairs, costs, (0, 1))
    assert len(found) == 3000
    assert (found.actions == found.observations / 2).all()  # an action stays with its observation
    kind = np.bincount(found.observations[:, 0].astype(int) // 1000, minlength=3)
    assert kind[0] == 0
    assert kind[2] / kind[1] == pytest.approx(3, rel=0.15)
    assert (drawn(pairs, costs, (0, 1)).actions == found.actions).all()
    assert (drawn(pairs, costs, (0, 2)).actions != found.actions).any()


@pytest.mark.parametrize("costs", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan]])
def test_costs_that_make_no_sense_are_refused(costs: list[float]) -> None:
    pairs = Pairs(np.zeros((2, 1), np.float32), np.zeros((2, 1)))
    with pytest.raises(ConfigError, match="costs"):
        drawn(pairs, np.array(costs), (0, 0))
