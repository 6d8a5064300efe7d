"""The figure eight in the arena, and what the road of the task calls its places."""

import numpy as np
import pytest

from icct.envs.sumo.figure_eight import SHIFTED, figure_eight_scenario
from icct.envs.sumo.scenario import speed_reward
from icct.robot import mapping, track
from icct.robot.fleet import START_ROAD_M, start_poses
from icct.robot.mapping import LAP_ROAD_M, ROAD_M, observed, reward, road_coordinate
from icct.robot.track import LAP_M, ahead, curvature_at, locate, point_at, wrapped
from icct.robot.verifier import closest_m
from icct.zoo import zoo_policy

ALONG_M = np.linspace(0.0, LAP_M, 4000, endpoint=False)
STARTS_M = {"bottom": 0, "top": 39.4, "upper_ring": 69.4, "right": 210.77, "left": 250.17}
STARTS_M["lower_ring"] = 280.17


def test_the_track_is_closed_smooth_and_inside_the_arena():
    points = point_at(np.append(ALONG_M, LAP_M))
    steps = np.diff(points, axis=1)
    step_m = LAP_M / len(ALONG_M)
    np.testing.assert_allclose(np.hypot(steps[0], steps[1]), step_m, rtol=1e-5)
    headings = np.arctan2(steps[1], steps[0])
    np.testing.assert_allclose(wrapped(headings - points[2, :-1]), 0.0, atol=0.002)
    turned = wrapped(steps[2]) / step_m
    on_a_piece = np.abs(turned - curvature_at(ALONG_M)) < 1e-6
    assert on_a_piece.mean() > 0.998  # all but where pieces meet
    assert np.abs(points[0]).max() < 1.51
    assert np.abs(points[1]).max() < 0.61


def test_the_straights_meet_at_the_crossing():
    np.testing.assert_allclose(point_at(track.CROSSINGS_M)[:2], 0.0, atol=1e-12)


@pytest.mark.parametrize("left_m", [-0.06, 0.0, 0.06])
def test_robots_are_found_where_they_are_even_on_the_crossing(left_m):
    poses = point_at(ALONG_M)
    poses[0] -= left_m * np.sin(poses[2])
    poses[1] += left_m * np.cos(poses[2])
    along_m, found_m = locate(poses, np.mod(ALONG_M + 0.05, LAP_M))
    np.testing.assert_allclose(ahead(ALONG_M, along_m, signed=True), 0.0, atol=1e-9)
    np.testing.assert_allclose(found_m, left_m, atol=1e-9)


def test_the_lap_is_that_of_the_task_and_so_are_its_coordinates():
    scenario = figure_eight_scenario()
    junctions_m = 4 * 0.1  # of which the track has none
    assert pytest.approx(scenario.road.length_m - junctions_m) == LAP_ROAD_M
    for edge, begin_m in STARTS_M.items():
        expected = scenario.starts_m[edge] + 3.0
        assert road_coordinate(np.array([begin_m + 3.0]))[0] == pytest.approx(expected)
    for way, middle_m in zip((":center_1", ":center_0"), mapping.CROSSINGS_ROAD_M, strict=True):
        expected = scenario.starts_m[way] + 4.7
        assert road_coordinate(np.array([middle_m]))[0] == pytest.approx(expected, abs=1e-6)


def test_robots_start_as_the_task_does_and_far_from_each_other():
    placed = [STARTS_M[place.edge] + place.position_m + 14.0 for place in SHIFTED]
    np.testing.assert_allclose(START_ROAD_M, placed, atol=1e-9)
    assert closest_m(start_poses()) > 0.39


def test_observations_have_the_order_and_the_bounds_of_the_policys_features():
    lap_m, speed_mps = np.array(START_ROAD_M), np.linspace(0.0, 12.0, 14)
    observation = observed(lap_m, speed_mps)
    features = zoo_policy("figure-eight-pacer").features
    assert len(observation) == len(features)
    assert all(f.low <= x <= f.high for f, x in zip(features, observation, strict=True))
    assert features[13].name == "speed_ego"
    assert observation[13] == 1.0  # 12 m/s
    assert features[27].name == "position_ego"
    assert observation[27] * 421.94 == pytest.approx(road_coordinate(lap_m[-1:])[0])


def test_a_robot_at_its_top_speed_is_at_the_limit_of_the_road():
    assert pytest.approx(12.0) == mapping.TOP_SPEED_MPS * mapping.ROAD_MPS
    way_m = mapping.TOP_SPEED_MPS * mapping.STEP_S * ROAD_M  # of road, in one step
    assert way_m == pytest.approx(12.0 * mapping.ROAD_STEP_S)


def test_the_reward_is_the_tasks():
    for speeds in np.random.default_rng(0).uniform(0.0, 12.0, (50, 14)):
        assert reward(speeds) == pytest.approx(speed_reward(list(speeds), 5.0), abs=1e-6)
