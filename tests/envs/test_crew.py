"""Environments in processes of their own, stepped together through shared memory."""

import os
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest

from icct.envs import find_task, make
from icct.envs.crew import Crew, Slot
from icct.errors import TaskError
from icct.seeds import training_seed

TASK = find_task("inverted-pendulum")


@pytest.fixture
def crew() -> Iterator[Crew]:
    crew = Crew(TASK, [Slot(seed, horizon_ends=False) for seed in (5, 6, 7)], workers=2)
    yield crew
    crew.close()


def advance(crew: Crew, action: float) -> None:
    crew.actions[:] = action
    crew.go()
    crew.wait()


def test_a_crew_steps_as_the_environment_alone_does(crew: Crew) -> None:
    """Through the ends of several episodes, the spare environments included."""
    env = make(TASK.name)
    episode, ended = 0, 0
    observation, _ = env.reset(seed=training_seed(6, episode))
    assert np.array_equal(crew.outcome[1, 4:8], observation)
    for step in range(60):
        action = 3.0 if step % 7 else -1.0
        advance(crew, action)
        observation, reward, terminated, truncated, _ = env.step(np.array([action], np.float32))
        assert np.array_equal(crew.outcome[1, :4], observation)
        assert crew.outcome[1, 8] == reward
        assert crew.outcome[1, 9] == terminated
        assert crew.episode[1, 1] == (terminated or truncated)
        if terminated or truncated:
            ended, episode = ended + 1, episode + 1
            observation, _ = env.reset(seed=training_seed(6, episode))
        assert np.array_equal(crew.outcome[1, 4:8], observation)
    assert ended > 3


def test_played_actions_bring_an_episode_back() -> None:
    first = Crew(TASK, [Slot(3, False)], workers=1)
    actions = np.array([[0.5], [-0.25], [0.125]], np.float32)
    for action in actions:
        advance(first, float(action[0]))
    again = Crew(TASK, [Slot(3, False, episode=0, played=actions)], workers=1)
    assert np.array_equal(first.outcome[:, 4:8], again.outcome[:, 4:8])
    first.close()
    again.close()


@pytest.mark.parametrize("ends", [True, False])
def test_the_horizon_ends_an_episode_for_the_critic_only_if_asked(ends: bool) -> None:
    crew = Crew(find_task("lane-keeping"), [Slot(0, horizon_ends=ends)], workers=1)
    for _ in range(500):
        advance(crew, 0.0)
    assert crew.episode[0, 1] == 1
    assert crew.outcome[0, -1] == ends
    crew.close()


def test_a_killed_process_is_reported_soon(crew: Crew) -> None:
    advance(crew, 0.0)
    os.kill(crew.hands[1].process.pid, signal.SIGKILL)
    began = time.monotonic()
    with pytest.raises(TaskError, match="inverted-pendulum, environments of members 2: its proc"):
        advance(crew, 0.0)
    assert time.monotonic() - began < 30  # a silent process would be waited for 120 s


def test_an_error_in_an_environment_is_reported_with_its_words(crew: Crew) -> None:
    with pytest.raises(TaskError, match="every number of an action must be finite"):
        advance(crew, float("nan"))


def test_no_name_is_left_that_could_outlive_a_kill_of_all(crew: Crew) -> None:
    """A kill of the whole job ends even the process that tidies up after the others."""
    for process in (os.getpid(), *(hand.process.pid for hand in crew.hands)):
        with open(f"/proc/{process}/maps") as maps:
            assert [line for line in maps if "/memfd:icct-crew (deleted)" in line]
        with open(f"/proc/{process}/maps") as maps:
            assert not [line for line in maps if "/dev/shm/psm_" in line or "sem.mp" in line]


def test_closing_leaves_nothing_behind(crew: Crew) -> None:
    processes = [hand.process for hand in crew.hands]
    crew.close()
    crew.close()
    assert not any(process.is_alive() for process in processes)
