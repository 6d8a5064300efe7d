import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import icct.envs
from icct.envs.base import observation_box
from icct.envs.catalog import TASKS
from icct.envs.find import find_task
from icct.errors import ConfigError, TaskError
from icct.policy import Controller, Leaf, Policy

SIZES = {
    "inverted-pendulum": (4, 1),
    "lunar-lander": (8, 2),
    "lane-keeping": (12, 1),
    "single-lane-ring": (44, 1),
    "multi-lane-ring": (66, 2),
    "figure-eight": (28, 1),
}


def test_sizes_are_those_of_the_paper():
    assert {n: (len(t.features), len(t.actions)) for n, t in TASKS.items()} == SIZES


def test_a_policy_can_carry_every_task():
    for task in TASKS.values():
        leaf = Leaf(tuple(Controller() for _ in task.actions))
        policy = Policy(task.name, task.features, task.actions, (leaf,))
        assert policy.act(np.zeros(len(task.features))).shape == (len(task.actions),)


def test_every_feature_has_finite_bounds():
    for task in TASKS.values():
        assert all(np.isfinite([f.low, f.high]).all() for f in task.features), task.name


def test_ego_features_are_easy_to_recognise():
    for name in ("single-lane-ring", "multi-lane-ring", "figure-eight"):
        task = TASKS[name]
        ego = [f.name for f in task.features if f.name.endswith("_ego")]
        assert ego == ["speed_ego", "position_ego", "lane_ego"][: 2 + (task.road.lanes > 1)]
        assert task.features[task.road.humans].name == "speed_ego"  # the ego comes last


def test_traffic_declares_the_unit_box():
    for name in ("single-lane-ring", "multi-lane-ring", "figure-eight"):
        box = observation_box(TASKS[name])
        assert (box.low == 0).all()
        assert np.delete(box.high, TASKS[name].road.humans).tolist() == [1.0] * (len(box.high) - 1)


def test_a_fast_ego_stays_within_the_box():
    """Its speed factor lets it exceed the limit that speeds are divided by, up to twofold."""
    for name, fastest in (("single-lane-ring", 1), ("multi-lane-ring", 2), ("figure-eight", 2)):
        assert observation_box(TASKS[name]).high[TASKS[name].road.humans] == fastest


def test_find_task_by_name_and_id_and_suggests():
    assert find_task("figure-eight") == find_task("icct/FigureEight-v1")
    with pytest.raises(TaskError, match="Did you mean 'lunar-lander'"):
        find_task("lunar-landr")


def test_ids_are_registered_with_their_horizon():
    for task in TASKS.values():
        assert gymnasium.spec(task.gym_id).max_episode_steps == task.horizon


def test_gymnasium_make_gives_our_environment():
    env = gymnasium.make("icct/InvertedPendulum-v1")
    assert type(env.unwrapped) is type(icct.envs.make("inverted-pendulum"))
    env.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integratr": "euler"}, "Did you mean 'integrator'"),
        ({"integrator": "heun"}, "expected one of rk4, euler"),
        ({"render_mode": "human"}, "expected one of None, rgb_array"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        icct.envs.make("lane-keeping", **options)
    with pytest.raises(ConfigError, match=message):
        icct.envs.make_worker("lane-keeping", **options)


def loaded_after(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_imports_stay_small():
    assert "gymnasium" not in loaded_after("import icct")
    assert "gymnasium" not in loaded_after("from icct.cli.main import main; main(['--help'])")
    loaded = loaded_after("import icct.envs, icct.evaluate, icct.envs.drivers, icct.envs.worker")
    assert not loaded & {"torch", "libsumo", "mujoco", "Box2D", "highway_env"}
