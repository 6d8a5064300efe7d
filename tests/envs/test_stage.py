"""Stages and poses: what environments say about how they look."""

import gymnasium
import numpy as np
import pytest

from icct.envs import make
from icct.envs.stage import check_stage, stage_of
from icct.errors import TaskError

STAGE = {
    "world": [0, 0, 4, 4],
    "lines": [{"points": [(0, 0), (4, 4)], "role": "edge"}],
    "bodies": {"me": {"role": "ego", "radius": 1}},
}


@pytest.mark.sumo
@pytest.mark.parametrize("task", ["single-lane-ring", "multi-lane-ring", "figure-eight"])
def test_vehicles_are_on_the_road(task: str) -> None:
    env = make(task)
    env.reset(seed=1)
    for _ in range(20):
        env.step(np.zeros(len(env.task.actions), dtype=np.float32))
    stage, poses = env.stage(), env.poses()
    check_stage(stage, task)
    roads = np.array(
        [p for line in stage["lines"] if line["role"] == "road" for p in line["points"]]
    )
    low, high = stage["world"][:2], stage["world"][2:]
    assert set(poses) == set(stage["bodies"])
    assert [name for name, body in stage["bodies"].items() if body["role"] == "ego"] == ["rl_0"]
    for x, y, heading, speed in poses.values():
        assert low[0] < x < high[0]
        assert low[1] < y < high[1]
        assert np.hypot(*(roads - (x, y)).T).min() < 32  # the longest straight has 60 m
        assert np.isfinite(heading)
        assert 0 <= speed < 30
    env.close()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"world": [0, 0, 0, 4]}, "world"),
        ({"lines": [{"points": [(0, 0)], "role": "river"}]}, "river"),
        ({"bodies": {"me": {"role": "ego"}}}, "neither a radius"),
        ({"bodies": {"me": {"role": "king", "radius": 1}}}, "king"),
        ({"lines": [{"points": [(0, "x")], "role": "edge"}]}, "could not convert"),
        ({"lines": [{"points": [(0, 0)] * 30_000, "role": "edge"}]}, "at most"),
    ],
)
def test_a_stage_that_cannot_be_drawn(change: dict, why: str) -> None:
    with pytest.raises(TaskError, match=why):
        check_stage(STAGE | change, "Mine")


def test_any_environment_may_have_one() -> None:
    class Drawn(gymnasium.Env):
        def stage(self):
            return STAGE

        def poses(self):
            return {"me": (1, 1, 0)}

    class OtherStage(gymnasium.Env):
        stage = 3  # of a rocket

    assert stage_of(Drawn()) == STAGE
    assert stage_of(OtherStage()) is None
    assert stage_of(gymnasium.make("Pendulum-v1").unwrapped) is None
