"""Lane keeping on highway-env."""

from typing import Any

import numpy as np

from icct.envs.base import Frame, Observation
from icct.envs.catalog import LANE_KEEPING
from icct.envs.inner import InnerEnv
from icct.envs.simulators import import_simulator


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
        self._vehicle_class = euler_vehicle() if options.get("integrator") == "euler" else None

    def _begin(self) -> Observation:
        inner: Any = self._inner
        inner.trajectory.clear()  # grows with every step; highway-env never empties it
        observation = super()._begin()
        if self._vehicle_class is not None:
            old = inner.vehicle
            vehicle = self._vehicle_class(old.road, old.position, old.heading, old.speed)
            inner.road.vehicles[:] = [vehicle]
            inner.vehicle = vehicle
        return observation

    def _draw(self) -> Frame:
        frame, inner = super()._draw(), self._inner
        if not inner.viewer.enabled:  # type: ignore[attr-defined]
            # highway-env draws nothing where SDL_VIDEODRIVER is "dummy", as on many servers.
            inner.viewer.enabled = True  # type: ignore[attr-defined]
            frame = super()._draw()
        return frame

    def _flat(self, observation: Any) -> Observation:
        parts = (observation["derivative"], observation["reference_state"], observation["state"])
        return np.concatenate(parts, dtype=np.float32, casting="same_kind").ravel()


def euler_vehicle() -> Any:
    """Return highway-env's bicycle model with explicit Euler steps in place of Runge-Kutta."""
    dynamics = import_simulator("highway_env.vehicle.dynamics", LANE_KEEPING.name, "envs")

    class EulerVehicle(dynamics.BicycleVehicle):  # type: ignore[name-defined,misc]
        """A bicycle model that is integrated with one explicit Euler step per time step."""

        def step(self, dt: float) -> None:
            self.clip_actions()
            state = self.state + dt * self.derivative
            self.position = state[0:2, 0]
            self.heading, self.speed, self.lateral_speed, self.yaw_rate = state[2:, 0]
            self.on_state_update()

    return EulerVehicle
