"""Gymnasium's and Stable-Baselines3's checkers, with every warning that they give explained."""

import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from icct.envs.catalog import TASKS

# (part of a warning) → the tasks that may give it, and why that is right
EXPLAINED = {
    # The raw limits of the tasks are part of their definition; learners scale themselves.
    "symmetric and normalized": {"inverted-pendulum", "multi-lane-ring", "figure-eight"},
    # These simulators declare no bounds, and a bad policy does leave every bound in lane keeping.
    # The catalog has measured bounds beside the space.
    "minimum value is -infinity": {"inverted-pendulum", "lane-keeping"},
    "maximum value is infinity": {"inverted-pendulum", "lane-keeping"},
}


def unexplained(task, run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [
        str(warning.message)
        for warning in caught
        if not any(text in str(warning.message) and task in EXPLAINED[text] for text in EXPLAINED)
    ]


def test_gymnasium_checker(any_task, open_env):
    env = open_env(any_task)
    assert unexplained(any_task, lambda: check_env(env)) == []


def test_gymnasium_checker_on_the_registered_environment(any_task):
    env = gymnasium.make(TASKS[any_task].gym_id)
    assert unexplained(any_task, lambda: check_env(env.unwrapped)) == []
    env.close()


def test_stable_baselines3_checker(any_task, open_env):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env = open_env(any_task, render_mode="rgb_array")
    run = lambda: checker.check_env(env, skip_render_check=False)  # noqa: E731
    assert unexplained(any_task, run) == []


def test_passing_through_gymnasium_make_changes_nothing(any_task, open_env):
    wrapped, plain = gymnasium.make(TASKS[any_task].gym_id), open_env(any_task)
    wrapped.action_space.seed(3)
    actions = [wrapped.action_space.sample() for _ in range(3)]

    def trace(env):
        observations = [env.reset(seed=5)[0].tobytes()]
        return observations + [env.step(action)[0].tobytes() for action in actions]

    first = trace(wrapped)
    wrapped.close()
    assert trace(plain) == first
