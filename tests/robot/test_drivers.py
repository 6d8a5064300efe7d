"""Humans, safe speeds, and the crossing."""

import numpy as np
import pytest

from icct.envs.sumo import scenario
from icct.robot import drivers
from icct.robot.crossing import CLEAR_M, STOP_LINE_M, gap_to_line, let_in
from icct.robot.drivers import human_acceleration, safe_speed
from icct.robot.mapping import CROSSINGS_ROAD_M, ROAD_STEP_S

UP, LEFT = CROSSINGS_ROAD_M


def test_humans_drive_as_in_the_task():
    random = np.random.default_rng(0)
    speeds, leaders = random.uniform(0.0, 12.0, (2, 200))
    gaps_m = random.uniform(0.5, 60.0, 200)
    expected = [
        scenario.flow_acceleration(speed, gap_m, leader)
        for speed, gap_m, leader in zip(speeds, gaps_m, leaders, strict=True)
    ]
    np.testing.assert_allclose(human_acceleration(speeds, gaps_m, leaders), expected)
    assert (
        pytest.approx(scenario.NOISE_STD * scenario.STEP_S**0.5)
        == drivers.NOISE_STD * ROAD_STEP_S**0.5
    )


@pytest.mark.parametrize("gap_m", [0.01, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("leader_mps", [0.0, 4.0, 12.0])
def test_who_drives_at_the_safe_speed_never_runs_into_a_braking_leader(gap_m, leader_mps):
    gap, leader = np.array([gap_m]), np.array([leader_mps])
    for _ in range(400):
        speed = safe_speed(gap, leader)
        leader = np.maximum(leader - drivers.HARDEST_BRAKING * ROAD_STEP_S, 0.0)
        gap = gap + (leader - speed) * ROAD_STEP_S
        assert gap[0] > -1e-9
    assert safe_speed(gap, leader)[0] < 0.1


def test_who_comes_first_goes_first_and_the_other_stops_at_the_line():
    lap_m = np.array([UP - STOP_LINE_M - 8.0, LEFT - STOP_LINE_M - 5.0])
    inside = let_in((), lap_m, np.array([5.0, 5.0]))
    assert inside == (1,)
    np.testing.assert_allclose(gap_to_line(inside, lap_m), [8.0, np.inf])


def test_followers_are_let_in_together_and_the_others_after_them():
    lap_m = np.array([UP + 2.0, UP - STOP_LINE_M - 1.0, LEFT - STOP_LINE_M])
    speeds = np.array([5.0, 5.0, 0.0])
    assert let_in((0,), lap_m, speeds) == (0, 1)
    both_clear = np.array([UP + CLEAR_M + 15.0, UP + CLEAR_M, LEFT - STOP_LINE_M])
    assert let_in((0, 1), both_clear, speeds) == (2,)


def test_far_from_the_crossing_nobody_asks_for_it():
    assert let_in((), np.array([100.0, 300.0]), np.array([12.0, 12.0])) == ()


def test_who_is_beyond_the_line_uninvited_stands_still():
    lap_m = np.array([UP, LEFT - STOP_LINE_M + 0.5])
    inside = let_in((0,), lap_m, np.array([5.0, 1.0]))
    assert inside == (0,)
    assert gap_to_line(inside, lap_m)[1] == 0.0
