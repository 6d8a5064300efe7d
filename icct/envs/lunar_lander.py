"""The lunar lander on Box2D."""

from typing import Any

from icct.envs.base import Observation
from icct.envs.catalog import LUNAR_LANDER
from icct.envs.inner import InnerEnv
from icct.envs.simulators import import_simulator


class LunarLanderEnv(InnerEnv):
    """A lander with two legs and three engines (Gymnasium's LunarLander-v3, continuous).

    | observation | meaning | unit |
    |---|---|---|
    | 0 `x` | to the right of the pad | x 10 m |
    | 1 `y` | above the pad | x 6.67 m |
    | 2 `velocity_x` | | x 5 m/s |
    | 3 `velocity_y` | upwards | x 7.5 m/s |
    | 4 `angle` | counter-clockwise | rad |
    | 5 `angular_velocity` | | x 2.5 rad/s |
    | 6 `left_leg_contact`, 7 `right_leg_contact` | 1 when it touches the ground | 0 or 1 |

    | action | range | meaning |
    |---|---|---|
    | `main_engine` | -1 to 1 | below 0 off, from 0 on 50 % to 100 % of full thrust |
    | `side_engine` | -1 to 1 | below -0.5 left, above 0.5 right, 50 % to 100 %; else off |

    Reward: progress towards rest on the pad, +10 per touching leg, minus fuel; +100 for coming to
    rest, -100 for a crash or for leaving the screen. Ending: terminated by these two, truncated
    after 1000 steps of 0.02 s. `info["collision"]` says whether the body touched the ground.
    Start: above the pad, with a random push; the terrain beside the pad is random. No wind.

    Version history: v1, Gymnasium's LunarLander-v3.
    """

    def __init__(self, **options: Any) -> None:
        name, extra = LUNAR_LANDER.name, LUNAR_LANDER.extra
        import_simulator("Box2D", name, extra)
        module = import_simulator("gymnasium.envs.box2d.lunar_lander", name, extra)
        inner = module.LunarLander(continuous=True, render_mode=options.get("render_mode"))
        super().__init__(LUNAR_LANDER, inner, **options)

    def _flat(self, observation: Any) -> Observation:
        return observation  # type: ignore[no-any-return]  # a new float32 array already

    def _info(self) -> dict[str, Any]:
        return {"collision": bool(self._inner.game_over)}  # type: ignore[attr-defined]
