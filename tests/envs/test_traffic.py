import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from icct.envs.catalog import TASKS
from icct.envs.sumo.figure_eight import PLACEMENTS, figure_eight_scenario
from icct.envs.sumo.ring import MULTI_LANE, SINGLE_LANE, ring_placements
from icct.envs.sumo.scenario import NETWORKS, flow_acceleration, speed_reward
from icct.errors import TaskError

SCENARIOS = {
    "single-lane-ring": SINGLE_LANE,
    "multi-lane-ring": MULTI_LANE,
    "figure-eight": figure_eight_scenario(),
}


# -- data, without SUMO --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "length"),
    [("single_lane_ring", 230.40), ("multi_lane_ring", 230.52), ("figure_eight", 421.94)],
)
def test_network_lengths(network, length):
    root = ElementTree.parse(NETWORKS / f"{network}.net.xml").getroot()
    total = math.fsum(float(edge.find("lane").get("length")) for edge in root.findall("edge"))
    assert total == pytest.approx(length, abs=1e-9)
    scenario = next(s for s in SCENARIOS.values() if s.network == network)
    assert scenario.road.length_m == length


def test_networks_ship_without_paths():
    for path in NETWORKS.glob("*.xml"):
        text = path.read_text()
        assert "<!--" not in text
        assert "/tmp" not in text


def test_ring_placements_are_the_original_ones():
    single, multi = ring_placements(lanes=1), ring_placements(lanes=2)
    for vehicle, edge, position in (
        (0, "bottom", 0), (6, "bottom", 57.2727), (7, "right", 9.2182), (12, "right", 56.9455),
        (13, "top", 8.8909), (18, "top", 56.6182), (19, "left", 8.5636), (20, "left", 18.1091),
        (21, "left", 27.6545),
    ):  # fmt: skip
        assert single[vehicle].edge == edge
        assert single[vehicle].position_m == pytest.approx(position, abs=1e-4)
    pairs = [
        ("bottom", 0), ("bottom", 19.0909), ("bottom", 38.1818), ("bottom", 57.2727),
        ("right", 18.7636), ("right", 37.8545), ("right", 56.9455), ("top", 18.4364),
        ("top", 37.5273), ("top", 56.6182), ("left", 18.1091),
    ]  # fmt: skip
    for pair, (edge, position) in enumerate(pairs):
        for lane in (0, 1):
            place = multi[2 * pair + lane]
            assert (place.edge, place.lane) == (edge, lane)
            assert place.position_m == pytest.approx(position, abs=1e-4)


def test_reward_formula():
    assert speed_reward([5.0] * 14, 5.0) == pytest.approx(1, abs=1e-6)
    assert speed_reward([0.0] * 14, 5.0) == 0
    assert speed_reward([30.0] * 14, 5.0) == 0
    speeds = [1.0, 4.0, 7.5]
    rms = math.sqrt(sum((v - 5) ** 2 for v in speeds) / 3)
    assert speed_reward(speeds, 5.0) == pytest.approx(1 - rms / 5, abs=1e-6)


def test_driver_model_against_its_formula():
    v, h, lead = 3.2, 6.5, 2.7
    wanted = 2 + max(0, v * 1 + v * (v - lead) / (2 * math.sqrt(1.5)))
    expected = 1 - (v / 30) ** 4 - (wanted / h) ** 2
    assert flow_acceleration(v, h, lead) == pytest.approx(expected, rel=1e-12)
    assert flow_acceleration(v, 1000.0, None) == pytest.approx(1 - (v / 30) ** 4, rel=1e-12)
    assert flow_acceleration(1.0, 0.0, 1.0) == flow_acceleration(1.0, 0.001, 1.0)


# -- on SUMO -------------------------------------------------------------------------------------

sumo = pytest.mark.sumo


def test_vehicles_start_where_the_scenario_says(traffic_task, open_env):
    env = open_env(traffic_task)
    scenario, simulation = env.scenario, env._simulation
    simulation.load(seed=1)
    names = scenario.names
    assert names[-1] == "rl_0"
    places = zip(map(simulation.get_edge, names), simulation.positions(names), strict=True)
    for (edge, position), place in zip(places, scenario.placements, strict=True):
        assert edge == place.edge
        assert position == pytest.approx(place.position_m, abs=1e-4)
    assert [simulation.lane(n) for n in names] == [place.lane for place in scenario.placements]
    assert simulation.speeds(names) == [0.0] * len(names)


@sumo
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_figure_eight_starts_from_standstill(open_env, placement):
    observation, _ = open_env("figure-eight", placement=placement).reset(seed=0)
    assert not observation[:14].any()
    scenario = figure_eight_scenario(placement)
    expected = [scenario.starts_m[p.edge] + p.position_m for p in scenario.placements]
    assert observation[14:] * 421.94 == pytest.approx(expected, abs=1e-3)


def test_observations_and_rewards_agree(traffic_task, open_env):
    env = open_env(traffic_task)
    env.reset(seed=2)
    cars, scenario = len(env.scenario.names), env.scenario
    for _ in range(200):
        observation, reward, terminated, _, info = env.step(np.zeros(env.action_space.shape))
        assert observation in env.observation_space
        assert not terminated
        assert info == {"collision": False}
        speeds = (observation[:cars].astype(float) * scenario.road.speed_limit_mps).tolist()
        assert reward == pytest.approx(speed_reward(speeds, scenario.target_speed_mps), abs=1e-5)


@sumo
def test_all_short_edges_of_the_figure_eight_have_a_coordinate(open_env):
    env = open_env("figure-eight", ego="sumo")
    env.reset(seed=0)
    seen = set()
    for _ in range(1500):
        env.step(np.zeros(1))
        seen.update(env._edges)
    assert seen == set(env.scenario.starts_m) | set(env.scenario.points_m)


@sumo
def test_a_collision_ends_the_episode_without_reward(open_env):
    env = open_env("figure-eight", placement="original")
    for seed in range(60):  # about one in nine collides at step 86 to 89
        env.reset(seed=seed)
        for step in range(1, 95):
            before = env._observation()
            observation, reward, terminated, truncated, info = env.step([3.0])
            if terminated:
                assert 80 < step < 95
                assert reward == 0
                assert not truncated
                assert info == {"collision": True}
                assert np.array_equal(observation, before)
                with pytest.raises(TaskError, match="call reset first"):
                    env.step([0.0])
                return
    pytest.fail("no collision in 60 episodes with the original placement")


@sumo
def test_lane_changes_are_refused_by_the_original_gate(open_env):
    """For 255 steps a request counts only when the leader is near; then always."""

    def lanes(gate):
        env = open_env("multi-lane-ring", lane_change_gate=gate)
        observation, _ = env.reset(seed=0)
        found = []
        for _ in range(400):
            change = 1.0 if observation[-1] < 0.25 else -1.0
            observation = env.step([(5 - 12 * observation[21]) / 0.1, change])[0]
            found.append(observation[-1])
        env.close()
        return np.flatnonzero(np.diff(found)).tolist()

    free, cooled, original = lanes("none"), lanes("cool-down"), lanes("original")
    assert len(free) > len(cooled) > 0
    assert min(np.diff(cooled)) > min(np.diff(free)) > 5
    assert original != free


@sumo
@pytest.mark.parametrize(
    ("gate", "steps", "changed_at", "refused"),
    [
        ("original", 751, -math.inf, True),  # no leader on the rest of the route: a gap of 1000 m
        ("original", 1005, -math.inf, True),
        ("original", 1006, 1005, False),  # then no gate and no cool-down
        ("cool-down", 1005, 1000, True),
        ("cool-down", 1006, 1000, False),
        ("cool-down", 1, -math.inf, False),
        ("none", 1, 0, False),
    ],
)
def test_the_gate_to_the_step(open_env, gate, steps, changed_at, refused):
    env = open_env("multi-lane-ring", lane_change_gate=gate)
    env.reset(seed=0)
    env._simulation.leaders = lambda names: [("", -1.0)]
    env._steps, env._lane_changed_at = steps, changed_at
    assert env._refuses_lane_change() is refused


@sumo
def test_the_original_gate_reads_the_gap_as_a_time(open_env):
    env = open_env("multi-lane-ring")
    env.reset(seed=0)
    env._simulation.leaders = lambda names: [("human_3", 40.0 - env._min_gap_m[-1])]
    for steps, refused in ((45, True), (46, False)):
        env._steps = steps
        assert env._refuses_lane_change() is refused


@sumo
def test_lane_change_thresholds(open_env):
    env = open_env("multi-lane-ring", lane_change_gate="none")
    env.reset(seed=0)
    asked = []
    env._simulation.request_lane = lambda name, lane: asked.append(lane)
    env._lanes[-1] = 1
    for value, lane, expected in (
        (-0.5, 1, [0]), (-0.49, 1, []), (0.5, 1, []), (1.0, 0, [1]), (0.49, 0, []), (-1.0, 0, []),
    ):  # fmt: skip
        asked.clear()
        env._lanes[-1] = lane
        env._command_ego([0.0, value], lane_change_refused=False)
        assert asked == expected, value


# -- one owner of libsumo ------------------------------------------------------------------------


@sumo
def test_a_running_episode_is_never_replaced(open_env):
    first, second = open_env("figure-eight"), open_env("single-lane-ring")
    first.reset(seed=0)
    before = first.step([1.0])[0]
    with pytest.raises(TaskError, match="episode of figure-eight is running in this process"):
        second.reset(seed=0)
    assert not np.array_equal(first.step([1.0])[0], before)  # and it goes on


@sumo
def test_between_episodes_another_environment_may_take_over(open_env):
    first, second = open_env("figure-eight"), open_env("single-lane-ring")
    first.reset(seed=0)
    second.reset(seed=0)
    with pytest.raises(TaskError, match="simulation is gone; libsumo holds one per process"):
        first.step([1.0])
    second.step([1.0])
    second.close()
    first.reset(seed=0)
    first.step([1.0])


@sumo
def test_an_environment_that_is_forgotten_frees_libsumo(open_env):
    import icct.envs

    forgotten = icct.envs.make("figure-eight")
    forgotten.reset(seed=0)
    forgotten.step([0.0])
    del forgotten
    open_env("single-lane-ring").reset(seed=0)


@sumo
def test_a_foreign_simulation_is_not_replaced(open_env):
    import libsumo

    libsumo.start(["sumo", "-n", str(NETWORKS / "figure_eight.net.xml"), "--no-step-log"])
    try:
        with pytest.raises(TaskError, match="that icct did not start"):
            open_env("figure-eight").reset(seed=0)
    finally:
        libsumo.close()


def test_features_name_the_vehicles_in_order(traffic_task):
    task = TASKS[traffic_task]
    cars = task.road.humans + 1
    assert [f.name for f in task.features[:cars]][:2] == ["speed_human_0", "speed_human_1"]
    assert task.features[2 * cars - 1].name == "position_ego"
