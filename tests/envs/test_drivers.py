import pickle

import numpy as np
import pytest

from icct.envs.catalog import TASKS
from icct.envs.drivers import ConstantAction, Weave, find_driver
from icct.errors import TaskError

RING, WIDE, EIGHT = TASKS["single-lane-ring"], TASKS["multi-lane-ring"], TASKS["figure-eight"]


def observe(task, **values):
    observation = np.zeros(len(task.features), dtype=np.float32)
    for name, value in values.items():
        observation[task.feature_index(name)] = value
    return observation


def test_constant_speed_reaches_it_in_one_step_within_the_limits():
    driver = find_driver("driver:constant-speed=3.5", RING)
    assert driver.act(observe(RING, speed_ego=3.45 / 30)) == pytest.approx([0.5], abs=1e-4)
    assert driver.act(observe(RING)) == [1.0]
    assert driver.act(observe(RING, speed_ego=0.5)) == [-1.0]


def test_weave_asks_for_the_other_lane():
    driver = find_driver("driver:weave=5", WIDE)
    assert driver.act(observe(WIDE, lane_ego=0.0))[1] == 1
    assert driver.act(observe(WIDE, lane_ego=0.5))[1] == -1


def test_idm_brakes_behind_a_close_leader():
    driver = find_driver("driver:idm", EIGHT)
    near = observe(EIGHT, speed_ego=0.5, position_ego=0.5, position_human_4=0.5 + 8 / 421.94)
    far = observe(EIGHT, speed_ego=0.5, position_ego=0.5)
    assert driver.act(near)[0] < -2
    assert driver.act(far)[0] > 0.5


def test_random_repeats_with_its_seed():
    driver = find_driver("driver:random", WIDE)

    def draws(seed):
        driver.begin(seed)
        return [driver.act(None).tolist() for _ in range(5)]

    assert draws(1) == draws(1) != draws(2)
    assert np.abs(np.array(draws(3))[:, 1]).max() <= 1


def test_constant_action():
    assert find_driver("driver:constant-action=-0.5,1", WIDE) == ConstantAction(WIDE, (-0.5, 1.0))


def test_drivers_travel_to_other_processes():
    driver = find_driver("driver:weave=5", WIDE)
    assert pickle.loads(pickle.dumps(driver)) == driver == Weave(WIDE, 5.0)


@pytest.mark.parametrize(
    ("text", "task", "message"),
    [
        ("driver:weeve=5", WIDE, "Did you mean 'weave'"),
        ("driver:weave", WIDE, "expected driver:weave=NUMBER"),
        ("driver:weave=fast", WIDE, "'fast' is not a number"),
        ("driver:weave=nan", WIDE, "must be finite"),
        ("driver:weave=5", EIGHT, "two lanes"),
        ("driver:none", TASKS["lunar-lander"], "for the traffic tasks"),
        ("driver:none=3", RING, "expected driver:none,"),
        ("driver:linear-steering", RING, "for task lane-keeping"),
        ("driver:constant-action=1", WIDE, "takes 2: acceleration, lane_change"),
    ],
)
def test_wrong_drivers_are_refused(text, task, message):
    with pytest.raises(TaskError, match=message):
        find_driver(text, task)
