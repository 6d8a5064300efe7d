"""The inverted pendulum on MuJoCo."""

from typing import Any

import numpy as np

from icct.envs.base import Frame, Observation
from icct.envs.catalog import INVERTED_PENDULUM
from icct.envs.inner import InnerEnv
from icct.envs.simulators import import_simulator


class InvertedPendulumEnv(InnerEnv):
    """A pole on a cart on a rail, to be kept upright (Gymnasium's InvertedPendulum-v5).

    | observation | meaning | unit |
    |---|---|---|
    | 0 `cart_position` | along the rail, which ends at -1 and 1 | m |
    | 1 `pole_angle` | 0 is upright | rad |
    | 2 `cart_velocity` | | m/s |
    | 3 `pole_angular_velocity` | | rad/s |

    | action | range | meaning |
    |---|---|---|
    | `force` | -3 to 3 | force on the cart in units of 100 N (the model's motor has gear 100) |

    Reward: 1 per step, 0 in the step that ends the episode (the paper's v2 gave 1 there).
    Ending: terminated when the pole leans by more than 0.2 rad, truncated after 1000 steps of
    0.04 s. Start: every number uniform within 0.01 of 0.

    The declared space is unbounded, as in Gymnasium; the bounds of the catalog are tighter.

    Version history: v1, Gymnasium's InvertedPendulum-v5.
    """

    def __init__(self, **options: Any) -> None:
        name, extra = INVERTED_PENDULUM.name, INVERTED_PENDULUM.extra
        import_simulator("mujoco", name, extra)
        module = import_simulator("gymnasium.envs.mujoco.inverted_pendulum_v5", name, extra)
        super().__init__(INVERTED_PENDULUM, module.InvertedPendulumEnv(), **options)

    def _flat(self, observation: Any) -> Observation:
        return observation.astype(np.float32)  # type: ignore[no-any-return]

    def _draw(self) -> Frame:
        # MuJoCo's own renderer needs OpenGL, which a headless machine often lacks.
        from icct.envs.pictures import pendulum_frame

        position, angle = self._inner.unwrapped.data.qpos  # type: ignore[attr-defined]
        return pendulum_frame(float(position), float(angle))
