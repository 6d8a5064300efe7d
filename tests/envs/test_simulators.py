import subprocess
import sys

import numpy as np
import pytest

import icct.envs
from icct.envs import simulators
from icct.errors import MissingExtraError


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "libsumo", None)
    with pytest.raises(MissingExtraError, match=r'pip install "icct\[sumo\]"'):
        icct.envs.make("figure-eight")


def test_a_missing_system_library_names_the_packages(monkeypatch):
    def fail(name):
        raise ImportError("libGL.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(simulators.importlib, "import_module", fail)
    with pytest.raises(MissingExtraError, match=r"libGL\.so\.1.*apt install libgl1 .*libxrender1"):
        simulators.import_simulator("libsumo", "figure-eight", "sumo")


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtraError, match=r"icct\[envs\]"):
        icct.envs.make("lunar-lander")


@pytest.mark.parametrize("task", ["lunar-lander", "inverted-pendulum", "lane-keeping"])
def test_importing_is_safe_where_warnings_are_errors(task):
    """Box2D's module crashes the interpreter when its import warnings are raised."""
    code = f"import icct.envs; icct.envs.make({task!r}).reset(seed=0)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def highway(integrator, seed):
    """Return highway-env's own lane keeping, begun, and with Euler steps if asked for."""
    lane_keeping = simulators.import_simulator(
        "highway_env.envs.lane_keeping_env", "lane-keeping", "envs"
    )
    env = lane_keeping.LaneKeepingEnv()
    observation, _ = env.reset(seed=seed)
    if integrator == "euler":

        def step(time_s):
            car.clip_actions()
            state = car.state + time_s * car.derivative
            car.position = state[:2, 0]
            car.heading, car.speed, car.lateral_speed, car.yaw_rate = state[2:, 0]

        car = env.vehicle
        car.step = step
    return env, observation


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
@pytest.mark.parametrize("law", ["steers along the lane", "steers anywhere"])
def test_lane_keeping_is_that_of_highway_env(integrator, law, open_env):
    """Ours writes the arithmetic out; both get the same actions and must show the same."""
    rng = np.random.default_rng(0)
    for seed in range(3):
        ours = open_env("lane-keeping", integrator=integrator)
        found, _ = ours.reset(seed=seed)
        peer, expected = highway(integrator, seed)
        for _ in range(500):
            flat = np.vstack([expected[k] for k in ("derivative", "reference_state", "state")])
            assert found == pytest.approx(flat.ravel(), rel=1e-6, abs=1e-6)
            wanted = -0.1 * (found[8] - found[4]) - 0.5 * (found[9] - found[5])
            action = np.array([float(wanted) if "along" in law else rng.uniform(-1, 1)])
            found, reward, *_ = ours.step(action)
            expected, their_reward, *_ = peer.step(action)
            assert reward == pytest.approx(their_reward, rel=1e-9, abs=1e-9)
