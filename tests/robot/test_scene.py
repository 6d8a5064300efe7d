"""The arena as the live view sees it."""

import pickle

import numpy as np
import pytest

from icct.envs.stage import check_stage
from icct.robot.scene import arena_stage, robot_show
from icct.view.simulation import Episode
from icct.zoo import zoo_policy

POLICY = zoo_policy("figure-eight-pacer")


def test_the_stage_can_be_drawn_and_holds_the_whole_track():
    stage = arena_stage()
    check_stage(stage, "the arena")
    x_from, y_from, x_to, y_to = stage["world"]
    points = np.array([point for line in stage["lines"] for point in line["points"]])
    assert ((points > [x_from, y_from]) & (points < [x_to, y_to])).all()
    assert [body["role"] for body in stage["bodies"].values()] == ["other"] * 13 + ["ego"]


@pytest.mark.robot
def test_an_episode_of_the_show_is_driven_by_the_policy():
    show = pickle.loads(pickle.dumps(robot_show(POLICY, steps=30)))  # it goes to another process
    episode = Episode(show.make(), show.policy)
    steps = [episode.reset(7)]
    while not episode.over:
        steps.append(episode.step())
    assert len(steps) == 31
    assert steps[-1]["ended"] == "truncated"
    for step in steps:
        assert step["path"] == list(POLICY.path(step["observation"]))
        assert step["action"] == POLICY.act(step["observation"]).tolist()
    ego = [step["poses"]["robot 13"] for step in steps]
    assert ego[0][3] == 0.0
    assert ego[-1][3] > 1.0  # cm/s
    assert steps[-1]["notes"][0] == "1.0 s"
    assert 0.0 < steps[-1]["reward"] < 1.0
