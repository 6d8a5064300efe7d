import numpy as np
import pytest

from icct.errors import ConfigError, TaskError


def test_bad_actions_are_refused_and_the_episode_goes_on(any_task, open_env):
    env = open_env(any_task)
    env.reset(seed=0)
    good = np.zeros(env.action_space.shape, dtype=np.float32)
    for position in range(len(good)):
        for value in (np.nan, np.inf, -np.inf):
            bad = good.copy()
            bad[position] = value
            with pytest.raises(
                TaskError, match=rf"{env.task.actions[position].name} is -?(nan|inf)"
            ):
                env.step(bad)
    for bad in (
        0.5,
        [],
        np.zeros(len(good) + 1),
        good[None],
        None,
        ["a"] * len(good),
        [[1], [2, 3]],
        good.astype(bool),
        good.astype(complex),
    ):
        with pytest.raises(TaskError, match=any_task):
            env.step(bad)
    after = env.step(good)[0]
    env.reset(seed=0)
    assert np.array_equal(env.step(good)[0], after)  # no refused action reached the simulator


def test_actions_out_of_range_are_clipped(any_task, open_env):
    env = open_env(any_task)

    def end(action):
        env.reset(seed=1)
        for _ in range(3):
            result = env.step(action)
        return result[0].tobytes(), result[1]

    for limit in (env.action_space.low, env.action_space.high):
        assert end(limit * 1000) == end(limit)
        assert end((limit * 1000).tolist()) == end(limit)


def test_integers_and_lists_are_numbers(any_task, open_env):
    env = open_env(any_task)
    env.reset(seed=0)
    env.step([0] * len(env.task.actions))


def test_stepping_without_an_episode_is_refused(any_task, open_env):
    env = open_env(any_task)
    with pytest.raises(TaskError, match="call reset first"):
        env.step(np.zeros(env.action_space.shape))
    env.reset(seed=0)
    env.close()
    env.close()
    with pytest.raises(TaskError, match="call reset first"):
        env.step(np.zeros(env.action_space.shape))


def test_reset_has_no_options(any_task, open_env):
    env = open_env(any_task)
    with pytest.raises(ConfigError, match=r"icct\.envs\.make"):
        env.reset(options={"placement": "even"})
    env.reset(options={})


def test_truncated_exactly_at_the_horizon(open_env):
    env = open_env("lane-keeping")
    env.reset(seed=0)
    ends = [env.step(np.zeros(1))[2:4] for _ in range(500)]
    assert ends == [(False, False)] * 499 + [(False, True)]
    with pytest.raises(TaskError, match="call reset first"):
        env.step(np.zeros(1))
