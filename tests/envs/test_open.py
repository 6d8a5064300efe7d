"""Environments that somebody else wrote: described, played, and refused with a sentence."""

import multiprocessing
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from icct.envs import Task, find_task, make
from icct.envs.drivers import find_driver
from icct.envs.find import parse_options, remembered, task_of
from icct.envs.spaces import flat_observation, observation_numbers
from icct.errors import TaskError
from icct.evaluate import evaluate
from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance

BOUNDED = spaces.Box(-1.0, 1.0, (2,), np.float32)
BROKEN = """
import gymnasium, numpy as np
from gymnasium.spaces import Box, Discrete

class Fine(gymnasium.Env):
    observation_space = Box(-1.0, 1.0, (2,), np.float32)
    action_space = Box(-1.0, 1.0, (1,), np.float32)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {}
    def step(self, action):
        self.steps += 1
        seen = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return seen, float(action[0]), False, self.steps == 5, {}

class Nan(Fine):
    def step(self, action):
        return (np.array([0.0, np.nan], np.float32), *super().step(action)[1:])

class Shape(Fine):
    def step(self, action):
        return (np.zeros(3, np.float32), *super().step(action)[1:])

class Raises(Fine):
    def step(self, action):
        raise ZeroDivisionError("no road left")

class OldStep(Fine):
    def step(self, action):
        return super().step(action)[:4]

class BadReward(Fine):
    def step(self, action):
        observation, _, *rest = super().step(action)
        return (observation, None, *rest)

class Steps(Fine):
    action_space = Discrete(2)

class Image(Fine):
    observation_space = Box(0, 255, (96, 96, 3), np.uint8)

class Endless(Fine):
    action_space = Box(-np.inf, np.inf, (1,), np.float32)

class Needs(Fine):
    def __init__(self, size):
        self.size = size

def nothing():
    return None

number = 3
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "broken_envs.py"
    path.write_text(BROKEN)
    return path


def zero(task: Task) -> Policy:
    rule = Leaf((Controller(),) * len(task.actions))
    return Policy("zero", task.features, task.actions, (rule,), squash="clip")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Steps", r"the actions are Discrete\(2\), expected a Box of real numbers"),
        ("Image", r"shape \(96, 96, 3\) has 27,648 numbers.*at most 512. Images are not supported"),
        ("Endless", r"limits of action 'action' are -inf and inf.*task card"),
        ("Needs", r"making the environment raised TypeError: .*size"),
        ("nothing", "made NoneType, expected a Gymnasium environment"),
        ("number", "is int, expected a class or a function"),
        ("Fin", "there is no 'Fin' in it. Did you mean 'Fine'"),
    ],
)
def test_what_cannot_be_a_task_is_refused_with_a_sentence(module, name, message):
    with pytest.raises(TaskError, match=message):
        find_task(f"{module}:{name}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nan", r"Nan, step 1 of the episode with seed \d+: x1 is nan; every number"),
        ("Shape", r"step 1 .*does not fit the observation space: its shape is \(3,\), expected"),
        ("Raises", r"step 1 .* raised ZeroDivisionError: no road left \(broken_envs.py, line 27\)"),
        ("OldStep", r"step 1 .* returned 4 values, expected \(observation, reward, terminated"),
        ("BadReward", "step 1 .*the reward is None, expected a finite number"),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_goes_wrong_in_an_episode_is_one_clear_error(module, name, message, workers):
    task = find_task(f"{module}:{name}")
    with pytest.raises(TaskError, match=message) as caught:
        evaluate(zero(task), task, episodes=2, workers=workers)
    assert "Traceback" not in str(caught.value)
    assert multiprocessing.active_children() == []


def test_a_module_that_fails_on_import(tmp_path):
    (tmp_path / "failing.py").write_text("import math\nvalue = 1 / 0\n")
    message = r"failing.py: the import raised ZeroDivisionError.*\(failing.py, line 2\)"
    with pytest.raises(TaskError, match=message):
        find_task(f"{tmp_path / 'failing.py'}:Env")
    with pytest.raises(TaskError, match="there is no such file"):
        find_task(f"{tmp_path / 'missing.py'}:Env")
    with pytest.raises(TaskError, match="There is no module 'no_such_package"):
        find_task("no_such_package.module:Env")


def test_a_factory_that_cannot_travel_is_refused_at_once():
    with pytest.raises(TaskError, match="cannot be sent to worker processes"):
        Task.from_env(lambda: gymnasium.make("Pendulum-v1"))


def test_an_environment_of_a_file_plays_the_same_in_any_number_of_processes(module):
    task = find_task(f"{module}:Fine")
    driver = find_driver("driver:random", task)
    one, two = (evaluate(driver, task, episodes=4, workers=workers) for workers in (1, 2))
    assert one.returns == two.returns
    assert [episode.length for episode in one.episodes] == [5] * 4


def test_options_reach_the_environment(module):
    task = find_task(f"{module}:Needs", {"size": 3})
    env = make(task)
    assert env._inner.size == 3
    assert task.title == "Needs (size=3)"
    assert parse_options(["size=3", "g=9.81", "fast=true", "mode=slow"]) == {
        "size": 3,
        "g": 9.81,
        "fast": True,
        "mode": "slow",
    }


def test_any_gymnasium_id_is_a_task():
    task = find_task("Pendulum-v1", {"g": 9.81})
    assert [(f.name, f.low, f.high, f.origin) for f in task.features] == [
        ("x0", -1, 1, "space"),
        ("x1", -1, 1, "space"),
        ("x2", -8, 8, "space"),
    ]
    assert task.actions == (Action("action", "", -2, 2),)
    assert task.horizon == 200
    env = make(task)
    assert np.array_equal(env.reset(seed=3)[0], gymnasium.make("Pendulum-v1").reset(seed=3)[0])
    for _ in range(199):
        assert not env.step(np.zeros(1))[3]
    assert env.step(np.zeros(1))[3]


def test_open_bounds_are_measured_the_same_each_time_and_widened():
    first, second = (find_task("InvertedPendulum-v5").features for _ in range(2))
    assert first == second
    assert {feature.origin for feature in first} == {"measured"}
    env = make(find_task("InvertedPendulum-v5"))
    observation, _ = env.reset(seed=1)
    for feature, value in zip(first, observation, strict=True):
        assert feature.low < value < feature.high


def test_names_and_parts_can_be_given():
    speed = Feature("speed", "rad/s", -8, 8, "physical")
    task = Task.from_env(
        "Pendulum-v1", name="swing", features=["cos", "sin", speed], actions=["torque"]
    )
    assert [feature.name for feature in task.features] == ["cos", "sin", "speed"]
    assert task.features[2] is speed
    with pytest.raises(TaskError, match="2 features are given, but an observation has 3 numbers"):
        Task.from_env("Pendulum-v1", features=["cos", "sin"])


def test_dict_and_tuple_observations_get_readable_names():
    space = spaces.Dict(
        gap=spaces.Box(0, 200, (1,), np.float32),
        gear=spaces.Discrete(2),
        cars=spaces.Tuple((spaces.Box(-1, 1, (2,), np.float32), spaces.MultiBinary(2))),
    )
    names = [name for name, _, _ in observation_numbers(space, "t")]
    cars = ["cars_0_0", "cars_0_1", "cars_1_0", "cars_1_1"]
    assert names == ["gap", "gear_is_0", "gear_is_1", *cars]
    sample = space.sample()
    flat = flat_observation(space, sample, "t")
    assert np.array_equal(flat, spaces.flatten(space, sample).astype(np.float32))
    assert flat[names.index("gap")] == sample["gap"][0]


def test_names_that_are_no_names_become_some():
    space = spaces.Dict({"2nd car": BOUNDED, "2nd-car": BOUNDED, "tempö": BOUNDED})
    names = [name for name, _, _ in observation_numbers(space, "t")]
    assert len(set(names)) == 6
    for name in names:
        Feature(name)  # refuses what cannot stand in exported code


def test_a_policy_remembers_its_task_but_runs_no_code_by_itself(module):
    pendulum = find_task("Pendulum-v1", {"g": 9.0})
    made_for = Provenance(task=pendulum.name, task_card=remembered(pendulum))
    policy = replace(zero(pendulum), provenance=made_for)
    again = task_of(policy)
    assert (again.environment, again.options, again.horizon) == ("Pendulum-v1", (("g", 9.0),), 200)
    assert (
        evaluate(policy, again, episodes=1).returns
        == evaluate(policy, pendulum, episodes=1).returns
    )
    code = find_task(f"{module}:Fine")
    policy = replace(zero(code), provenance=Provenance(task=code.name, task_card=remembered(code)))
    assert str(module.parent) not in str(policy.provenance)
    with pytest.raises(TaskError, match=r"name it, --task broken_envs\.py:Fine"):
        task_of(policy)
    for environment in ("os:system", "subprocess:run", "nowhere.py:Env"):
        hostile = Provenance(task="x", task_card=(("environment", environment), ("horizon", 5)))
        with pytest.raises(TaskError, match="cannot have code run by itself"):
            task_of(replace(policy, provenance=hostile))


def test_a_spare_is_kept_only_where_there_is_room(module):
    task = replace(find_task(f"{module}:Fine"), per_process=1)
    from icct.envs.crew import Crew, Slot

    crew = Crew(task, [Slot(seed, horizon_ends=False) for seed in (1, 2)], workers=1)
    assert len(crew.hands) == 2  # one environment in each process
    crew.close()


def test_an_environment_of_another_size_than_declared_is_refused():
    task = find_task("Pendulum-v1")
    wrong = replace(task, features=task.features[:2])
    with pytest.raises(TaskError, match="declares 2 features, but its environment has 3"):
        make(wrong)
