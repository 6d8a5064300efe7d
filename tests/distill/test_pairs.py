"""Who drives and who is asked; how many pairs a round adds."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from icct.distill.pairs import Lesson, Pairs, collect
from icct.envs.catalog import find_task
from icct.envs.drivers import find_driver
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
    pairs, driven = collect(teacher, student, "inverted-pendulum", episodes=3, seed=5)
    alone = evaluate(student, "inverted-pendulum", episodes=3, seed=5)
    assert driven.returns == alone.returns  # the teacher's advice changed nothing
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
    teacher = find_driver("driver:none", find_task("single-lane-ring"))
    with pytest.raises(ConfigError, match="no action to imitate"):
        collect(teacher, teacher, "single-lane-ring", episodes=1, seed=0)
