"""The inverted pendulum on MuJoCo."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np

from icct.envs.base import Frame, Observation
from icct.envs.catalog import INVERTED_PENDULUM
from icct.envs.inner import InnerEnv
from icct.envs.simulators import import_simulator
from icct.errors import TaskError

POLE_LENGTH = "0.6"  # of Gymnasium's own model, in metres


@contextmanager
def pendulum_model(module: ModuleType, pole_length: str) -> Iterator[Path]:
    """Yield the path of Gymnasium's model, or of a copy of it with a pole of another length."""
    own = Path(str(module.__file__)).parent / "assets" / "inverted_pendulum.xml"
    if pole_length == POLE_LENGTH:
        yield own
        return
    text, ends = own.read_text(encoding="utf-8"), 'fromto="0 0 0 0.001 0 {}" name="cpole"'
    changed = text.replace(ends.format(POLE_LENGTH), ends.format(pole_length))
    if changed == text:
        raise TaskError(f"{INVERTED_PENDULUM.name}: this Gymnasium's model has no pole to change.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / own.name
        path.write_text(changed, encoding="utf-8")
        yield path


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

    Options: `pole_length`, in metres, changes the pole; its mass grows with its length.

    Version history: v1, Gymnasium's InvertedPendulum-v5.
    """

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        task = INVERTED_PENDULUM.with_options(options)  # refuses what it does not have
        import_simulator("mujoco", task.name, task.extra)
        module = import_simulator(
            "gymnasium.envs.mujoco.inverted_pendulum_v5", task.name, task.extra
        )
        with pendulum_model(module, options.get("pole_length", POLE_LENGTH)) as path:
            inner = module.InvertedPendulumEnv(xml_file=str(path))
        super().__init__(task, inner, render_mode=render_mode)

    def _flat(self, observation: Any) -> Observation:
        return observation.astype(np.float32)  # type: ignore[no-any-return]

    def _draw(self) -> Frame:
        # MuJoCo's own renderer needs OpenGL, which a headless machine often lacks.
        from icct.envs.pictures import pendulum_frame

        position, angle = self._inner.unwrapped.data.qpos  # type: ignore[attr-defined]
        return pendulum_frame(float(position), float(angle))
