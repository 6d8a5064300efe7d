"""The integrator against answers that are known, another integrator, and the simulators."""

import math
from fractions import Fraction

import gymnasium
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import icct.envs
from icct.plant import read_plant, shipped_plants
from icct.plant.integrate import (
    LostError,
    Motion,
    advance,
    advance_many,
    array_motion,
    float_motion,
)
from icct.plant.simulate import periods, simulate
from tests.plant.models import linear, tank


def middle_of(name: str) -> tuple[Motion[float], list[float], dict[str, float], float]:
    plant = read_plant(f"plant:{name}")
    held = {action.name: 0.3 * action.high for action in plant.actions}
    held |= {one.name: float(one.high) for one in plant.disturbances}
    start = [float(high) for _, high in plant.start]
    return float_motion(plant), start, held, float(plant.period)


@pytest.mark.parametrize("name", shipped_plants())
def test_it_agrees_with_another_integrator(name: str) -> None:
    moving, start, held, period = middle_of(name)
    found = advance(moving, start, held, period)
    other = solve_ivp(
        lambda _, y: moving.slopes(y.tolist(), held),
        (0, period),
        start,
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    assert found == pytest.approx(other.y[:, -1], rel=1e-11, abs=1e-11)
    plant = read_plant(f"plant:{name}")
    many = {key: np.full(3, value) for key, value in held.items()}
    rows = advance_many(array_motion(plant), np.tile(start, (3, 1)), many, period)
    assert rows == pytest.approx(np.tile(found, (3, 1)), rel=1e-12, abs=1e-12)


def test_a_tank_settles_as_its_formula_says() -> None:
    plant = tank()
    went = simulate(plant, linear(plant, {}, 0.5), [[0.5], [1.0]], Fraction(3))
    expected = 1 + (np.array([[0.5], [1.0]]) - 1) * np.exp(-0.5 * went.times)
    assert went.states[:, :, 0] == pytest.approx(expected, abs=1e-12)
    assert went.times[-1] == 3.0
    assert np.all(went.actions == 0.5)


def test_the_last_period_may_be_cut_short() -> None:
    assert periods(tank(), Fraction("0.25")) == [0.1, 0.1, 0.05]
    assert periods(tank(), Fraction("0.3")) == [0.1, 0.1, 0.1]


def test_the_cart_pole_is_mujocos() -> None:
    """The same to rounding with MuJoCo's own steps of 0.02 s; within 2e-5 integrated exactly."""
    env = gymnasium.make("InvertedPendulum-v5").unwrapped
    env.reset(seed=0)
    moving = float_motion(read_plant("plant:cart-pole"))
    generator = np.random.default_rng(0)
    for _ in range(50):
        start = generator.uniform([-0.5, -0.2, -1, -1], [0.5, 0.2, 1, 1])
        held = {"force": float(generator.uniform(-3, 3))}
        env.set_state(start[:2], start[2:])  # type: ignore[attr-defined]
        env.do_simulation(np.array([held["force"]]), 2)  # type: ignore[attr-defined]
        reached = np.concatenate([env.data.qpos, env.data.qvel])  # type: ignore[attr-defined]
        own = runge_kutta(moving, runge_kutta(moving, start, held, 0.02), held, 0.02)
        assert own == pytest.approx(reached, abs=1e-13)
        assert advance(moving, start.tolist(), held, 0.04) == pytest.approx(reached, abs=2e-5)
    env.close()


def test_lane_keeping_is_highway_envs() -> None:
    """The same to rounding with highway-env's one step of 0.1 s, which is coarse: 0.2 off."""
    env = icct.envs.make("lane-keeping")
    env.reset(seed=0)
    car = env._inner.vehicle  # type: ignore[attr-defined]
    moving = float_motion(read_plant("plant:lane-keeping"))
    generator = np.random.default_rng(0)
    for _ in range(50):
        start = generator.uniform([-4, -0.4, -1, -1], [4, 0.4, 1, 1])
        held = {"steering": float(generator.uniform(-1, 1))}
        car.position, car.speed = np.array([0.0, start[0]]), 8.3
        car.heading, car.lateral_speed, car.yaw_rate = start[1:]
        car.act({"acceleration": 0.0, "steering": held["steering"] * math.pi / 3})
        car.step(0.1)
        reached = car.state[[1, 2, 4, 5], 0]
        assert runge_kutta(moving, start, held, 0.1) == pytest.approx(reached, abs=1e-12)
        assert advance(moving, start.tolist(), held, 0.1) == pytest.approx(reached, abs=0.2)
    env.close()


@pytest.mark.parametrize(
    "rate",
    [
        "1/(level - 1)^2",
        "level^2*50",
        "log((0.4 - level)/1)",
        "sqrt(level - 1.2)*1",
        "exp(exp(9*level))",
    ],
)
def test_a_model_that_leaves_the_numbers_is_lost_and_does_not_hang(rate: str) -> None:
    plant = tank(f"1*({rate})")
    with pytest.raises(LostError, match="the model leaves the numbers"):
        advance(float_motion(plant), [0.9], {"inflow": 0.0}, 5.0)
    went = simulate(plant, linear(plant, {}), [[0.9], [0.9]], Fraction(1))
    assert np.isnan(went.states[:, -1]).all()


def test_one_trajectory_that_is_lost_leaves_the_others_alone() -> None:
    plant = tank("1*(level - 0.75)*level*20")  # falls to 0 from below 0.75, else goes to infinity
    went = simulate(plant, linear(plant, {}), [[0.5], [1.0]], Fraction(2))
    assert went.states[0, -1, 0] == pytest.approx(0.0, abs=1e-6)
    assert np.isnan(went.states[1, -1, 0])


def runge_kutta(
    moving: Motion[float], start: np.ndarray, held: dict[str, float], step: float
) -> np.ndarray:
    def slope(state: np.ndarray) -> np.ndarray:
        return np.array(moving.slopes(state.tolist(), held))

    first = slope(start)
    second = slope(start + step / 2 * first)
    third = slope(start + step / 2 * second)
    fourth = slope(start + step * third)
    return start + step / 6 * (first + 2 * second + 2 * third + fourth)
