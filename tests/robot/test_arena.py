"""The demo on the testbed's own simulator, and the script to submit there."""

import ast
import random
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest

from icct.cli.main import main
from icct.errors import PolicyError
from icct.robot.arena import Arena
from icct.robot.fleet import EGO, ROBOTS, Fleet, start_poses
from icct.robot.run import run
from icct.robot.script import submission
from icct.robot.simulator import barrier_certificate, open_simulator, verdict
from icct.robot.track import point_at
from icct.robot.verifier import Violations, closest_m
from icct.zoo import zoo_policy

POLICY = zoo_policy("figure-eight-pacer")
CLEAN = "No errors or warnings in your simulation!  Your script will run on the Robotarium!"
robot = pytest.mark.robot


@robot
def test_the_verifier_has_nothing_to_say_after_3000_steps():
    traffic = run(POLICY, steps=3000, seed=1, drive_to_start=False)
    assert CLEAN in traffic.verdict
    assert traffic.violations == Violations()
    assert 3.5 < traffic.mean_mps < 6.0  # it moves, and as fast as on the road
    assert traffic.certified_steps == 0
    assert 0.0 < traffic.held_back < 0.5  # the policy has its way most of the time


@robot
def test_nobody_collides_whatever_the_ego_does():
    arena, draw = Arena(2, drive_to_start=False), np.random.default_rng(2)
    for step in range(1000):
        if step % 40 == 0:
            acceleration = float(draw.choice([-3.0, 0.5, 3.0]))
        arena.step(acceleration)
    assert arena.account.violations == Violations()
    assert arena.traffic("erratic").held_back > 0.02  # it would have
    assert arena.fleet.certified_steps == 0


@robot
def test_violations_are_counted_as_the_verifier_counts_them():
    simulator, ours = open_simulator(0, drive_to_start=False), Violations()
    draw = np.random.default_rng(1)
    for _ in range(600):  # each robot somewhere, fast, into walls and into each other
        velocities = np.vstack([draw.uniform(0.0, 0.25, ROBOTS), draw.uniform(-1, 1, ROBOTS)])
        poses = simulator.get_poses()
        ours.count(poses, velocities)
        simulator.set_velocities(np.arange(ROBOTS), velocities)
        simulator.step()
    text = verdict(simulator)
    assert re.search(r"(\d+) time steps where robots were too close", text)[1] == str(
        ours.too_close
    )
    assert re.search(r"(\d+) time steps where robots were outside", text)[1] == str(ours.outside)
    assert simulator._errors["exceeded_actuator_limits"] == ours.too_fast
    assert ours.rejected
    assert min(ours.too_close, ours.outside, ours.too_fast) > 10


@robot
def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    one, same, other = (played(seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.poses, same.poses)
    assert not np.array_equal(one.poses, other.poses)


@robot
def test_the_policys_acceleration_becomes_speed():
    arena = Arena(0, drive_to_start=False)
    for _ in range(40):
        arena.step(2.0)
    assert arena.fleet.speed_mps[EGO] == pytest.approx(40 * 2.0 * 0.0247, rel=0.01)
    ahead = arena.fleet.speed_mps[EGO]
    arena.step(-3.0)
    assert arena.fleet.speed_mps[EGO] < ahead - 0.07


@robot
def test_the_certificate_parts_robots_that_came_too_near():
    with_it, without = (nearest_of_two(c) for c in (barrier_certificate(), None))
    assert without < 0.135
    assert with_it > 0.135


@robot
def test_the_script_drives_as_the_demo_does_to_the_last_bit(tmp_path):
    path = tmp_path / "submit.py"
    path.write_text(submission(POLICY), encoding="utf-8")
    script = runpy.run_path(str(path), run_name="submitted")
    arena = played(5, steps=150)
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    testbed = script["main"](150, 5, drive_to_start=False)
    np.testing.assert_array_equal(testbed.get_poses(), arena.poses)


def test_the_script_needs_numpy_and_the_testbed_alone():
    tree = ast.parse(submission(POLICY))
    names = [
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    packages = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert packages == {"numpy", "rps"}


def test_a_policy_for_another_task_is_refused():
    with pytest.raises(PolicyError, match=r"ring-cruiser: .*figure-eight.*44 features"):
        submission(zoo_policy("ring-cruiser"))


def test_without_the_simulator_an_error_says_where_to_get_it():
    code = (
        "import sys; sys.modules['rps'] = None\n"
        "from icct.cli.main import main; sys.exit(main(['robot', '--steps', '1']))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 2
    assert "github.com/robotarium/robotarium_python_simulator" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_simulator_of_2020_is_refused_by_its_version(tmp_path):
    (tmp_path / "rps").mkdir()
    (tmp_path / "rps" / "__init__.py").touch()
    (tmp_path / "rps" / "robotarium.py").write_text("class Robotarium: ...\n", encoding="utf-8")
    info = tmp_path / "robotarium_python_simulator-0.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: robotarium-python-simulator\nVersion: 0.0.0\n"
    )
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from icct.cli.main import main; sys.exit(main(['robot', '--steps', '1']))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 2
    assert "needs version 2 of robotarium-python-simulator, found 0.0.0" in ran.stderr


@robot
def test_the_command_prints_both_drivers_side_by_side(capsys):
    arguments = ["robot", "--policy", "zoo:figure-eight-pacer", "--steps", "20", "--compare", "1"]
    assert main([*arguments, "--no-drive-to-start"]) == 0
    head, icct, human, *rest = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["ego", "seed"]
    assert icct.split()[0] == "figure-eight-pacer"
    assert human.split()[0] == "human"
    assert CLEAN in rest


def played(seed: int, steps: int = 60) -> Arena:
    arena = Arena(seed, drive_to_start=False)
    for _ in range(steps):
        arena.step(float(POLICY.act(arena.observation)[0]))
    return arena


def nearest_of_two(certificate) -> float:
    """Return how near two robots come that stand beside the track, facing each other."""
    poses = start_poses()
    poses[:, 0] = point_at(0.3)[:, 0]
    poses[:, 1] = poses[:, 0]
    poses[0, 1] += 0.19
    poses[2, :2] = 0.0, np.pi
    fleet, nearest_m = Fleet(0, certificate), np.inf
    fleet.lap_m[:2] = 0.3 * 51.3, 0.5 * 51.3
    for _ in range(80):
        fleet.see(poses)
        velocities = fleet.drive(0.0)
        if certificate is None or closest_m(poses) >= 0.142:
            velocities[0, :2], velocities[1, :2] = 0.05, 0.0  # they do not obey, until they must
        poses[0] += 0.033 * velocities[0] * np.cos(poses[2])
        poses[1] += 0.033 * velocities[0] * np.sin(poses[2])
        poses[2] += 0.033 * velocities[1]
        nearest_m = min(nearest_m, closest_m(poses))
    return nearest_m
