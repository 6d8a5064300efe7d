"""The arena as the live view and its recordings show it: what stands still, and what moves."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from icct.envs.stage import Line, Point, Poses, Stage
from icct.errors import TaskError
from icct.policy import Policy
from icct.robot.arena import Arena
from icct.robot.crossing import STOP_LINE_M
from icct.robot.fleet import EGO, ROBOTS
from icct.robot.mapping import CROSSINGS_ROAD_M, ROAD_M, ROAD_MPS, STEP_S, TOP_SPEED_MPS, reward
from icct.robot.run import STEPS, check_policy, check_steps
from icct.robot.track import LAP_M, point_at
from icct.robot.verifier import ARENA_M, COLLISION_M
from icct.view.show import Show
from icct.view.simulation import Moment

TRACK_WIDTH_M = 0.16
TRACK_POINTS = 240
MARGIN_M = 0.08  # around the arena
TITLE = "14 robots on a figure eight"


class RobotScene:
    """The robots, to be watched (an `icct.view.simulation.Simulation`).

    Args:
        steps: How many a run has.
        drive_to_start: Let the robots drive to where they begin first, unseen, as the testbed does.
    """

    def __init__(self, steps: int = STEPS, *, drive_to_start: bool = False) -> None:
        self._steps, self._drive_to_start = steps, drive_to_start
        self._arena: Arena | None = None
        self._done = 0

    def reset(self, seed: int) -> Moment:
        """Start a run."""
        self._arena, self._done = Arena(seed, drive_to_start=self._drive_to_start), 0
        return self._moment(None)

    def step(self, action: NDArray[np.float64]) -> Moment:
        """Let the ego accelerate for one step of the testbed."""
        self.arena.step(float(action[0]))
        self._done += 1
        return self._moment(reward(self.arena.fleet.speed_mps))

    def stage(self) -> Stage:
        """Return the arena, the track and the stop lines."""
        return arena_stage()

    def close(self) -> None:
        """Keep the run, which can be asked how it was: the simulator holds nothing else."""

    @property
    def arena(self) -> Arena:
        """The run that goes on."""
        if self._arena is None:
            raise TaskError("The robots have not been started: reset comes first.")
        return self._arena

    def _moment(self, earned: float | None) -> Moment:
        arena = self.arena
        ended = "truncated" if self._done >= self._steps else None
        return Moment(
            arena.observation, earned, ended, poses=_poses(arena), notes=_notes(arena, self._done)
        )


def arena_stage() -> Stage:
    """Return what stands still in the arena, in metres."""
    x_from, x_to, y_from, y_to = ARENA_M
    wall: list[Point] = [(x_from, y_from), (x_to, y_from), (x_to, y_to), (x_from, y_to)]
    track = point_at(np.linspace(0.0, LAP_M, TRACK_POINTS, endpoint=False))
    lines: list[Line] = [
        {"points": _points(track), "role": "road", "width": TRACK_WIDTH_M, "closed": True},
        {"points": wall, "role": "edge", "closed": True},
    ]
    lines += [{"points": _stop_line(middle_m), "role": "guide"} for middle_m in CROSSINGS_ROAD_M]
    return {
        "world": (x_from - MARGIN_M, y_from - MARGIN_M, x_to + MARGIN_M, y_to + MARGIN_M),
        "lines": lines,
        "bodies": {
            f"robot {k}": {"role": "ego" if k == EGO else "other", "radius": COLLISION_M / 2}
            for k in range(ROBOTS)
        },
        "tint": {"name": "speed", "unit": "cm/s", "low": 0.0, "high": 100 * TOP_SPEED_MPS},
    }


def _stop_line(middle_m: float) -> list[Point]:
    """Return the line across the track at which robots wait, at the noses of those who do."""
    x, y, heading = point_at([(middle_m - STOP_LINE_M) / ROAD_M + COLLISION_M / 2])[:, 0]
    side_x, side_y = -np.sin(heading) * TRACK_WIDTH_M / 2, np.cos(heading) * TRACK_WIDTH_M / 2
    return [(float(x - side_x), float(y - side_y)), (float(x + side_x), float(y + side_y))]


def _points(poses: NDArray[np.float64]) -> list[Point]:
    return [(round(float(x), 4), round(float(y), 4)) for x, y in poses[:2].T]


def _poses(arena: Arena) -> Poses:
    speeds_cmps = 100 * arena.fleet.speed_mps / ROAD_MPS
    return {
        f"robot {k}": [*arena.poses[:, k].tolist(), float(speeds_cmps[k])] for k in range(ROBOTS)
    }


def _notes(arena: Arena, steps: int) -> list[str]:
    mean_mps, wrong = float(arena.fleet.speed_mps.mean()), arena.account.violations
    notes = [
        f"{steps * STEP_S:.1f} s",
        f"mean speed of all {100 * mean_mps / ROAD_MPS:.1f} cm/s, {mean_mps:.1f} m/s on the road",
        f"too close {wrong.too_close}, outside {wrong.outside}, wheels too fast {wrong.too_fast}",
    ]
    if arena.fleet.held_back:
        notes.append("the ego is held back: traffic or the crossing")
    return notes


def robot_show(policy: Policy, *, steps: int = STEPS, drive_to_start: bool = False) -> Show:
    """Return the demo as something to view live or to record."""
    check_policy(policy)
    check_steps(steps)
    make = partial(RobotScene, steps, drive_to_start=drive_to_start)
    return Show(policy, make, TITLE, step_s=STEP_S, horizon=steps)
