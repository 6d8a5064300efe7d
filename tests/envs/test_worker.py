import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import icct.envs
from icct.envs.catalog import TASKS
from icct.envs.drivers import find_driver
from icct.errors import ConfigError, TaskError
from icct.evaluate import evaluate
from icct.seeds import episode_seed


@pytest.fixture
def open_worker():
    opened = []

    def make(task, **options):
        opened.append(icct.envs.make_worker(task, **options))
        return opened[-1]

    yield make
    for env in opened:
        env.close()


def test_a_worker_behaves_like_make(open_worker, open_env):
    env, plain = open_worker("lunar-lander", render_mode="rgb_array"), open_env("lunar-lander")
    assert env.observation_space == plain.observation_space
    assert env.action_space == plain.action_space
    assert np.array_equal(env.reset(seed=1)[0], plain.reset(seed=1)[0])
    assert env.step(np.zeros(2))[1:] == plain.step(np.zeros(2))[1:]
    assert env.render().shape == (400, 600, 3)


def test_a_refused_action_does_not_end_the_worker(open_worker):
    env = open_worker("inverted-pendulum")
    env.reset(seed=1)
    with pytest.raises(TaskError, match="force is nan"):
        env.step([np.nan])
    with pytest.raises(ConfigError):
        env.reset(options={"speed": 1})
    env.reset(seed=1)
    env.step([0.0])


@pytest.mark.sumo
def test_training_and_evaluation_live_side_by_side(open_env, open_worker):
    train, test = open_env("figure-eight"), open_worker("figure-eight")
    first, second = train.reset(seed=5)[0], test.reset(seed=5)[0]
    for _ in range(50):
        assert np.array_equal(first, second)
        first, second = train.step([1.0])[0], test.step([1.0])[0]


def test_a_killed_worker_is_reported_at_once(any_task, open_worker):
    env = open_worker(any_task)
    env.reset(seed=12345)
    env.step(np.zeros(env.action_space.shape))
    os.kill(env.worker.pid, signal.SIGKILL)
    began = time.monotonic()
    expected = rf"{any_task}, episode after reset\(seed=12345\).*SIGKILL"
    with pytest.raises(TaskError, match=expected):
        env.step(np.zeros(env.action_space.shape))
    assert time.monotonic() - began < 30  # a silent process would be waited for 120 s
    with pytest.raises(TaskError, match="closed"):
        env.step(np.zeros(env.action_space.shape))
    env.close()


class SuicidalDriver:
    """Kills its own process in the middle of its third episode."""

    def __init__(self):
        self.episode = -1

    def begin(self, seed):
        self.episode, self.steps = seed, 0

    def act(self, observation):
        self.steps += 1
        if self.episode == episode_seed(0, 2) and self.steps == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return [0.0]


def test_a_killed_evaluation_worker_names_its_episode():
    began = time.monotonic()
    seed = episode_seed(0, 2)
    with pytest.raises(TaskError, match=rf"lane-keeping, episodes with seeds {seed}: .*SIGKILL"):
        evaluate(SuicidalDriver(), "lane-keeping", episodes=4, workers=2)
    assert time.monotonic() - began < 60  # most of it is the start of two processes


def test_an_actor_that_cannot_travel_is_refused():
    actor = type("Local", (), {"act": lambda self, observation: [0.0]})()
    with pytest.raises(TaskError, match="cannot be sent to another process"):
        evaluate(actor, "inverted-pendulum", episodes=2, workers=2)


class FailingDriver:
    def act(self, observation):
        raise ValueError("no idea")


def test_an_actor_that_fails_in_a_worker_is_reported():
    with pytest.raises(TaskError, match="no idea"):
        evaluate(FailingDriver(), "inverted-pendulum", episodes=2, workers=2)


def test_workers_are_gone_after_close(open_worker):
    env = open_worker("inverted-pendulum")
    pid = env.worker.pid
    env.close()
    env.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.sumo
def test_evaluation_leaves_no_process_behind():
    import multiprocessing

    driver = find_driver("driver:none", TASKS["single-lane-ring"])
    evaluate(driver, "single-lane-ring", episodes=2, workers=2)
    assert multiprocessing.active_children() == []


def test_a_killed_worker_leaves_the_others_silent(capfd):
    """Those that were still playing find nobody to answer, and say nothing about it."""
    with pytest.raises(TaskError, match="SIGKILL"):
        evaluate(SlowSuicidalDriver(), "lane-keeping", episodes=4, workers=2)
    assert capfd.readouterr().err == ""


class SlowSuicidalDriver(SuicidalDriver):
    """Lets the other worker play a little longer than its parent waits for the answer."""

    def act(self, observation):
        if self.steps == 4:
            time.sleep(0.3)
        return super().act(observation)


def test_signals_to_the_whole_job_do_not_reach_a_worker(open_worker):
    env = open_worker("inverted-pendulum")
    env.reset(seed=1)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(env.worker.pid, number)
    env.step([0.0])


FORGETFUL = """
from icct.envs import make_worker
if __name__ == "__main__":
    env = make_worker("inverted-pendulum")
    env.reset(seed=1)
    print(env.worker.pid)
"""


def test_a_worker_that_nobody_closed_ends_with_the_program(tmp_path):
    script = tmp_path / "forgetful.py"
    script.write_text(FORGETFUL)
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
