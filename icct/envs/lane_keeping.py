"""Lane keeping on highway-env."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icct.envs.base import Frame, Observation, StepResult
from icct.envs.catalog import LANE_KEEPING
from icct.envs.inner import InnerEnv
from icct.envs.simulators import import_simulator

STEP_S = 0.1


class LaneKeepingEnv(InnerEnv):
    """A car at 8.3 m/s with slipping tyres, to be steered along a lane (lane-keeping-v0).

    It starts 4 m beside the centre of a straight lane; when it has left that one, the lane to keep
    is a sine of 5 m amplitude and 100 m length. Lateral means along the y axis of the map.

    | observation | meaning | unit |
    |---|---|---|
    | 0 `lateral_position_rate` | rate of 8, with noise | m/s |
    | 1 `heading_rate` | rate of 9, with noise | rad/s |
    | 2 `lateral_acceleration` | rate of 10, with noise | m/s^2 |
    | 3 `yaw_acceleration` | rate of 11, with noise | rad/s^2 |
    | 4 `lane_position` | lateral position of the lane's centre beside the car | m |
    | 5 `lane_heading` | heading of the lane there | rad |
    | 6 `lane_lateral_speed`, 7 `lane_yaw_rate` | always 0 | m/s, rad/s |
    | 8 `lateral_position` | of the car, with noise | m |
    | 9 `heading` | of the car, with noise | rad |
    | 10 `lateral_speed` | across the car's own axis, with noise | m/s |
    | 11 `yaw_rate` | with noise | rad/s |

    Noise is uniform within 0.05. The observation of a step is taken before the car moves, with the
    new steering angle already set: one step of delay, as in highway-env.

    | action | range | meaning |
    |---|---|---|
    | `steering` | -1 to 1 | angle of the front wheels, in units of 60 degrees |

    Reward: 1 - (distance from the centre / 10 m)^2, unbounded below. Ending: never terminated,
    truncated after 500 steps of 0.1 s (highway-env itself registers 200; the paper used 500).

    The declared space is unbounded, as in highway-env; the catalog has measured bounds.

    Options: `integrator="euler"` integrates the car as highway-env did up to 1.7.1; today's is
    Runge-Kutta of order 4.

    Version history: v1, highway-env 1.12's lane-keeping-v0.
    """

    def __init__(self, **options: Any) -> None:
        name, extra = LANE_KEEPING.name, LANE_KEEPING.extra
        module = import_simulator("highway_env.envs.lane_keeping_env", name, extra)
        inner = module.LaneKeepingEnv()
        inner.render_mode = options.get("render_mode")
        super().__init__(LANE_KEEPING, inner, **options)
        self._integrate = _euler if options.get("integrator") == "euler" else _runge_kutta

    def _begin(self) -> Observation:
        inner: Any = self._inner
        observation = super()._begin()
        vehicle = inner.vehicle
        self._x, self._y = vehicle.position.tolist()
        self._motion = float(vehicle.heading), 0.0, 0.0
        self._car = _Car.of(vehicle)
        self._lane, *self._next_lanes = [_Lane.of(lane) for lane in (inner.lane, *inner.lanes)]
        self._steering = inner.config["action"]["steering_range"]
        noise: float = inner.config["state_noise"]
        self._lowest, self._width = -noise, 2 * noise
        return observation

    def _advance(self, values: list[float]) -> StepResult:
        """Do what highway-env's step does, in its order, in ordinary floats."""
        x, y, motion = self._x, self._y, self._motion
        along, across = self._lane.coordinates(x, y)
        if self._next_lanes and not self._lane.holds(along, across):
            self._lane = self._next_lanes.pop(0)
            along, across = self._lane.coordinates(x, y)
        low, high = self._steering
        steering = low + (values[0] + 1.0) * (high - low) / 2.0
        rates = self._car.rates(motion, steering)
        lowest, width = self._lowest, self._width
        noise = [lowest + width * draw for draw in self.np_random.random(8).tolist()]
        observation: Observation = np.array(
            (
                rates[1] + noise[4],
                rates[2] + noise[5],
                rates[3] + noise[6],
                rates[4] + noise[7],
                y - across,
                self._lane.heading(along),
                0.0,
                0.0,
                y + noise[0],
                motion[0] + noise[1],
                motion[1] + noise[2],
                motion[2] + noise[3],
            ),
            dtype=np.float32,
        )
        self._x, self._y, self._motion = self._integrate(self._car, x, y, motion, steering)
        _, across = self._lane.coordinates(self._x, self._y)
        return observation, 1.0 - (across / self._lane.width) ** 2, False, False, {}

    def _draw(self) -> Frame:
        inner: Any = self._inner
        vehicle = inner.vehicle
        vehicle.position = np.array([self._x, self._y])
        vehicle.heading, vehicle.lateral_speed, vehicle.yaw_rate = self._motion
        vehicle.on_state_update()
        frame = super()._draw()
        if not inner.viewer.enabled:
            # highway-env draws nothing where SDL_VIDEODRIVER is "dummy", as on many servers.
            inner.viewer.enabled = True
            frame = super()._draw()
        return frame

    def _flat(self, observation: Any) -> Observation:
        parts = (observation["derivative"], observation["reference_state"], observation["state"])
        return np.concatenate(parts, dtype=np.float32, casting="same_kind").ravel()


# What follows is arithmetic of highway-env written out for one car at a constant speed, in floats
# instead of arrays of one number: 14 times as many steps a second (benchmarks/task_speed.py), and
# lane keeping is played for hundreds of millions. Road, lanes, car and pictures are highway-env's;
# `tests/envs/test_simulators.py` plays both and compares.

Motion = tuple[float, float, float]  # heading, lateral speed, yaw rate
Rates = tuple[float, float, float, float, float]  # of x, y and the motion


@dataclass(frozen=True)
class _Car:
    """The bicycle model of one highway-env vehicle (Rajamani, chapter 2)."""

    speed: float
    front_m: float
    rear_m: float
    mass: float
    inertia: float
    front_stiffness: float
    rear_stiffness: float
    top_yaw_rate: float

    @classmethod
    def of(cls, vehicle: Any) -> "_Car":
        """Return the constants of a vehicle that neither speeds up nor slows down."""
        return cls(
            speed=float(vehicle.speed),
            front_m=vehicle.LENGTH_A,
            rear_m=vehicle.LENGTH_B,
            mass=vehicle.MASS,
            inertia=vehicle.INERTIA_Z,
            front_stiffness=2 * vehicle.FRICTION_FRONT,
            rear_stiffness=2 * vehicle.FRICTION_REAR,
            top_yaw_rate=vehicle.MAX_ANGULAR_SPEED,
        )

    def rates(self, motion: Motion, steering: float) -> Rates:
        """Return how fast the position and the motion change."""
        heading, lateral_speed, yaw_rate = motion
        speed = self.speed
        front = steering - math.atan2(lateral_speed + self.front_m * yaw_rate, speed)
        rear = -math.atan2(lateral_speed - self.rear_m * yaw_rate, speed)
        front_force, rear_force = self.front_stiffness * front, self.rear_stiffness * rear
        cosine, sine = math.cos(heading), math.sin(heading)
        return (
            cosine * speed - sine * lateral_speed,
            sine * speed + cosine * lateral_speed,
            yaw_rate,
            (front_force + rear_force) / self.mass - yaw_rate * speed,
            (self.front_m * front_force - self.rear_m * rear_force) / self.inertia,
        )

    def clipped(self, motion: Motion) -> Motion:
        """Return a motion that turns no faster than a car may."""
        heading, lateral_speed, yaw_rate = motion
        top = self.top_yaw_rate
        return heading, lateral_speed, min(max(yaw_rate, -top), top)


def _runge_kutta(
    car: _Car, x: float, y: float, motion: Motion, steering: float
) -> tuple[float, float, Motion]:
    """Return position and motion a step later, by Runge-Kutta of order 4."""
    motion = car.clipped(motion)
    first = car.rates(motion, steering)
    second = car.rates(_moved(motion, first, STEP_S / 2), steering)
    third = car.rates(_moved(motion, second, STEP_S / 2), steering)
    fourth = car.rates(_moved(motion, third, STEP_S), steering)
    mean = [
        (a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(first, second, third, fourth, strict=True)
    ]
    return x + STEP_S * mean[0], y + STEP_S * mean[1], _moved(motion, mean, STEP_S)


def _euler(
    car: _Car, x: float, y: float, motion: Motion, steering: float
) -> tuple[float, float, Motion]:
    """Return position and motion a step later, by one explicit step."""
    motion = car.clipped(motion)
    rates = car.rates(motion, steering)
    return x + STEP_S * rates[0], y + STEP_S * rates[1], _moved(motion, rates, STEP_S)


def _moved(motion: Motion, rates: Sequence[float], time_s: float) -> Motion:
    return (
        motion[0] + time_s * rates[2],
        motion[1] + time_s * rates[3],
        motion[2] + time_s * rates[4],
    )


@dataclass(frozen=True)
class _Lane:
    """A straight lane of highway-env, or one that swings around a straight line."""

    start: tuple[float, float]
    direction: tuple[float, float]
    angle: float
    length: float
    width: float
    overhang: float  # how far a vehicle that is still on the lane may be beyond its ends
    amplitude: float
    pulsation: float
    phase: float

    @classmethod
    def of(cls, lane: Any) -> "_Lane":
        """Return a lane of highway-env."""
        start_x, start_y = lane.start.tolist()
        forward_x, forward_y = lane.direction.tolist()
        return cls(
            start=(start_x, start_y),
            direction=(forward_x, forward_y),
            angle=float(lane.heading),
            length=float(lane.length),
            width=float(lane.width),
            overhang=float(lane.VEHICLE_LENGTH),
            amplitude=float(getattr(lane, "amplitude", 0.0)),
            pulsation=float(getattr(lane, "pulsation", 0.0)),
            phase=float(getattr(lane, "phase", 0.0)),
        )

    def coordinates(self, x: float, y: float) -> tuple[float, float]:
        """Return how far along the lane a point is, and how far beside its centre."""
        right, up = x - self.start[0], y - self.start[1]
        forward_x, forward_y = self.direction
        along = right * forward_x + up * forward_y
        swing = self.amplitude * math.sin(self.pulsation * along + self.phase)
        return along, up * forward_x - right * forward_y - swing

    def heading(self, along: float) -> float:
        """Return the heading of the lane's centre."""
        slope = self.amplitude * self.pulsation
        return self.angle + math.atan(slope * math.cos(self.pulsation * along + self.phase))

    def holds(self, along: float, across: float) -> bool:
        """Return whether a vehicle there is on the lane."""
        between = -self.overhang <= along < self.length + self.overhang
        return between and abs(across) <= self.width / 2
