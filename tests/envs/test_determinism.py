"""Same seed, same trajectory: after a reload, in another process, with any number of workers."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

import icct.envs
from icct.envs.catalog import TASKS
from icct.envs.drivers import find_driver
from icct.evaluate import evaluate

STEPS = 120


def digest(env, seed):
    """Return a hash of all observations, rewards and ends of two episodes with random actions."""
    generator, whole = np.random.default_rng(seed), hashlib.sha256()
    for reset_seed in (seed, None):
        observation, _ = env.reset(seed=reset_seed)
        whole.update(observation.tobytes())
        for _ in range(STEPS):
            action = generator.uniform(env.action_space.low, env.action_space.high)
            observation, reward, terminated, truncated, _ = env.step(action)
            whole.update(observation.tobytes() + repr((reward, terminated)).encode())
            if terminated or truncated:
                break
    return whole.hexdigest()


def test_reload_gives_the_same_bits(any_task, open_env):
    env = open_env(any_task)
    first = digest(env, 7)
    assert digest(env, 8) != first
    assert digest(env, 7) == first
    env.close()
    assert digest(open_env(any_task), 7) == first


def test_another_process_gives_the_same_bits(any_task, open_env):
    first = digest(open_env(any_task), 7)
    worker = icct.envs.make_worker(any_task)
    try:
        assert digest(worker, 7) == first
    finally:
        worker.close()


def test_an_interpreter_of_its_own_gives_the_same_bits(open_env):
    """A worker shares nothing with us but the code; neither does this, down to the hash seed."""
    code = f"""
import sys, importlib.util
spec = importlib.util.spec_from_file_location("this", {__file__!r})
this = importlib.util.module_from_spec(spec); spec.loader.exec_module(this)
import icct.envs
print(this.digest(icct.envs.make("lunar-lander"), 7))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == digest(open_env("lunar-lander"), 7)


def numbers(task, episodes, workers):
    driver = find_driver("driver:random", TASKS[task])
    return evaluate(driver, task, episodes=episodes, seed=3, workers=workers)


@pytest.mark.parametrize(
    ("task", "episodes"),
    [("lunar-lander", 16), pytest.param("single-lane-ring", 4, marks=pytest.mark.sumo)],
)
def test_two_workers_do_not_change_the_numbers(task, episodes):
    alone = numbers(task, episodes, workers=1)
    assert numbers(task, episodes, workers=2) == alone
    assert len(set(alone.returns)) > 1


@pytest.mark.slow
def test_eight_workers_do_not_change_the_numbers(any_task):
    assert numbers(any_task, 10, workers=8) == numbers(any_task, 10, workers=1)


def test_the_inner_environments_are_gymnasiums_own(open_env):
    """Our layer adds nothing to the physics: same seed and actions, same observations."""
    import gymnasium

    for task, name, options in (
        ("inverted-pendulum", "InvertedPendulum-v5", {}),
        ("lunar-lander", "LunarLander-v3", {"continuous": True}),
    ):
        ours = open_env(task)
        theirs = gymnasium.make(name, **options)
        generator = np.random.default_rng(0)
        first, second = ours.reset(seed=4)[0], theirs.reset(seed=4)[0]
        for _ in range(60):
            assert np.array_equal(first, second.astype(np.float32))
            action = generator.uniform(-1, 1, ours.action_space.shape)
            first, reward, terminated, _, _ = ours.step(action)
            second, their_reward, their_end, _, _ = theirs.step(action)
            assert (reward, terminated) == (their_reward, their_end)
            if terminated:
                break
        theirs.close()
