"""Balls, Taylor series and zonotopes: every sample of what they stand for must lie inside."""

from fractions import Fraction

import numpy as np
import pytest

from icct.guarantee import elementary
from icct.guarantee.flow import Flow
from icct.guarantee.rounding import enclosed, low_high
from icct.guarantee.series import taylor, values
from icct.guarantee.squash import squash_line
from icct.guarantee.tape import recorded
from icct.guarantee.zonotope import Zonotopes
from icct.plant.parse import parse_expression
from icct.plant.simulate import simulate
from icct.policy import Action
from tests.plant.models import linear, tank

RATES = (
    "sin(x)*y - x^3",
    "exp(-x)*cos(y) + 0.1",
    "tanh(x + y)/(2 + y^2)",
    "sqrt(4 + x)*log(5 + y)",
    "atan(x*y) - tan(x/3)",
    "max(x, y) + abs(x - y) - min(y, 0.2)",
)


def points(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    return np.concatenate([rng.uniform(low, high, 500), [low, high]])


@pytest.mark.parametrize(
    ("enclose", "exact"),
    [
        (elementary.sine, np.sin),
        (elementary.cosine, np.cos),
        (elementary.exponential, np.exp),
        (elementary.hyperbolic_tangent, np.tanh),
        (elementary.arc_tangent, np.arctan),
        (elementary.reciprocal, np.reciprocal),
        (elementary.logarithm, np.log),
        (elementary.square_root, np.sqrt),
    ],
)
def test_ranges_hold_every_value_and_little_else(enclose, exact) -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        low = rng.uniform(0.01, 9)
        high = low + rng.uniform(0, 4)
        first, last = (end[0] for end in enclose(np.array([low]), np.array([high])))
        found = exact(np.linspace(low, high, 2001))
        assert first < found.min()
        assert found.max() < last
        assert first > found.min() - 1e-5
        assert last < found.max() + 1e-5


@pytest.mark.parametrize("enclose", [elementary.reciprocal, elementary.logarithm])
def test_outside_a_domain_nothing_is_known(enclose) -> None:
    low, high = enclose(np.array([-1.0]), np.array([1.0]))
    assert (low[0], high[0]) == (-np.inf, np.inf)


@pytest.mark.parametrize("rate", RATES)
def test_derivatives_and_taylor_coefficients_hold_those_of_every_point(rate: str) -> None:
    """Points are boxes of no width, whose coefficients are exact but for rounding."""
    rng = np.random.default_rng(1)
    order = 0 if "max" in rate else 4
    tape = recorded([parse_expression(rate)], ["x", "y"])
    middle, radius = np.array([[0.5, 0.3]]), np.array([[0.3, 0.2]])
    inside = middle + radius * rng.uniform(-1, 1, (400, 2))
    if order:
        box = taylor(tape, middle, radius, order, 2)
        each = taylor(tape, inside, np.zeros_like(inside), order, 2)
        assert each.rad.max() < 1e-10
    else:
        box, each = values(tape, middle, radius, 2), values(tape, inside, 0 * inside, 2)
    assert (np.abs(each.mid - box.mid) <= box.rad + 1e-12).all()
    assert (box.rad[..., 0] < 40).all()


def test_derivatives_are_those_of_differences() -> None:
    tape = recorded([parse_expression("atan(x)*exp(y) + sqrt(x)/y - log(x + y)")], ["x", "y"])
    at, step = np.array([[0.7, 1.2]]), 1e-6
    found = values(tape, at, 0 * at, 2).mid[0, 0, 1:]
    for side in range(2):
        moved = np.repeat(at, 2, 0)
        moved[:, side] += [-step, step]
        low, high = values(tape, moved, 0 * moved, 0).mid[0, :, 0]
        assert found[side] == pytest.approx((high - low) / (2 * step), rel=1e-8)


def test_numbers_that_are_no_floats_are_enclosed() -> None:
    for exact in (Fraction(1, 3), Fraction(1, 10), Fraction(10**17 + 1), Fraction(-7, 3)):
        middle, radius = enclosed(exact)
        assert 0 < radius < abs(middle) * 1e-15
        assert abs(Fraction(middle) - exact) <= Fraction(radius)


def random_sets(rng: np.random.Generator, count: int = 30, dim: int = 3) -> Zonotopes:
    return Zonotopes(
        rng.normal(size=(count, dim)),
        rng.normal(size=(count, dim, 3)),
        0.3 * rng.normal(size=(count, dim, 40)),
        0.1 * rng.uniform(size=(count, dim)),
    )


def members(rng: np.random.Generator, sets: Zonotopes) -> np.ndarray:
    """Return one point of each set, at extremes as often as not."""

    def within(*shape: int) -> np.ndarray:
        drawn = rng.uniform(-1, 1, shape)
        return np.where(rng.uniform(size=shape) < 0.5, np.sign(drawn), drawn)

    count, dim, s = sets.start.shape
    first = (sets.start * within(count, 1, s)).sum(2)
    second = (sets.noise * within(count, 1, sets.noise.shape[2])).sum(2)
    return sets.centre + first + second + sets.box * within(count, dim)


def furthest(sets: Zonotopes, way: np.ndarray) -> np.ndarray:
    """Return how far each set reaches in a direction."""
    lengths = np.abs(way @ sets.start).sum(1) + np.abs(way @ sets.noise).sum(1)
    return sets.centre @ way + lengths + sets.box @ np.abs(way)


def test_reducing_and_cutting_lose_no_point() -> None:
    rng = np.random.default_rng(2)
    sets = random_sets(rng)
    fewer = sets.reduced(12)
    assert fewer.noise.shape[2] <= 63
    limit = rng.normal(size=len(sets))
    below, some_below = sets.cut(1, limit, 1)
    above, some_above = sets.cut(1, limit, -1)
    for _ in range(300):
        points, way = members(rng, sets), rng.normal(size=3)
        reached = points @ way
        assert (reached <= furthest(fewer, way) + 1e-9).all()
        small = points[:, 1] <= limit
        assert some_below[small].all()
        assert some_above[~small].all()
        assert (reached <= furthest(below, way) + 1e-9)[small].all()
        assert (reached <= furthest(above, way) + 1e-9)[~small].all()
    assert (below.radius <= sets.radius + 1e-9).all()


@pytest.mark.parametrize("kind", ["tanh", "clip", "none"])
def test_a_squash_is_near_its_line(kind) -> None:
    rng = np.random.default_rng(3)
    action = Action("a", "", -0.5, 2.0)
    low = rng.uniform(-6, 4, 300)
    high = low + rng.choice([1e-9, 0.01, 1.0, 9.0], 300)
    slope, offset, error = squash_line(kind, action, low, high)
    for share in np.linspace(0, 1, 101):
        value = low + share * (high - low)
        squashed = {
            "tanh": action.centre + action.half_range * np.tanh(value),
            "clip": np.clip(value, action.low, action.high),
            "none": value,
        }[kind]
        assert (np.abs(squashed - slope * value - offset) <= error + 1e-14).all()
    assert error.max() < 1.3


@pytest.mark.parametrize(
    "rate", ["inflow - 0.5*level", "inflow*sin(2*level) - 1*level^2", "2*abs(level - 0.7) + inflow"]
)
def test_a_step_holds_every_trajectory(rate: str) -> None:
    plant = tank(rate, more='[disturbances.leak]\nunit = "m/s"\nlow = 0\nhigh = 0\n')
    low, high = np.array([[0.5, -0.3]]), np.array([[0.9, 0.2]])
    sets, flow = Zonotopes.of_boxes(low, high), Flow(plant)
    step = flow.step(sets, plant.period)
    assert step.fine.all()
    rng = np.random.default_rng(4)
    for _ in range(5):
        inflow = float(rng.uniform(-0.3, 0.2))
        starts = points(rng, 0.5, 0.9)[:, None]
        went = simulate(plant, linear(plant, {}, inflow), starts, plant.period, samples=6)
        first, last = low_high(step.sets.centre, step.sets.radius)
        assert (went.states[:, -1, 0] >= first[0, 0] - 1e-12).all()
        assert (went.states[:, -1, 0] <= last[0, 0] + 1e-12).all()
        assert (went.states[..., 0] >= step.low[0, 0] - 1e-12).all()
        assert (went.states[..., 0] <= step.high[0, 0] + 1e-12).all()
    assert (step.high - step.low).max() < 0.8
