import dataclasses
import json
import math

import numpy as np
import pytest

from icct.envs.catalog import TASKS
from icct.envs.drivers import find_driver
from icct.errors import ConfigError, PolicyError, TaskError
from icct.evaluate import evaluate, film
from icct.policy import Controller, Leaf, Policy, Split
from icct.seeds import episode_seed
from icct.video import write_video

PENDULUM = TASKS["inverted-pendulum"]


def balancer(**changes):
    """Return a tree that balances the pole: one linear rule on each side of a split."""
    rule = Leaf((Controller(((0, 1.0), (1, 15.0), (2, 1.5), (3, 2.5))),))
    nodes = (Split(feature=1, threshold=0.0, below=1, above=2), rule, rule)
    made = Policy("balancer", PENDULUM.features, PENDULUM.actions, nodes, squash="clip")
    return dataclasses.replace(made, **changes)


def test_a_policy_is_evaluated_with_its_leaves():
    result = evaluate(balancer(), "inverted-pendulum", episodes=3, seed=1)
    assert result.returns == (1000.0,) * 3
    assert result.mean == 1000
    assert result.standard_error == 0
    assert result.steps == 3000 == sum(result.leaf_visits.values())
    assert set(result.leaf_visits) == {1, 2}
    assert min(result.leaf_visits.values()) > 0
    assert result.observations_outside == 0
    assert result.actor == "balancer"


def test_observations_outside_the_policys_bounds_are_counted():
    tight = tuple(
        dataclasses.replace(f, low=-0.001, high=0.001) if f.name == "pole_angle" else f
        for f in PENDULUM.features
    )
    result = evaluate(balancer(features=tight), "inverted-pendulum", episodes=2)
    assert 0 < result.observations_outside <= result.steps
    assert result.features_outside == {"pole_angle": result.observations_outside}


def test_statistics_are_those_of_numpy():
    result = evaluate(find_driver("driver:random", PENDULUM), PENDULUM.name, episodes=20)
    returns = np.array(result.returns)
    assert result.mean == pytest.approx(returns.mean())
    assert result.standard_error == pytest.approx(returns.std(ddof=1) / math.sqrt(20))
    described = json.loads(json.dumps(result.as_dict()))
    assert described["median"] == np.median(returns)
    assert (described["min"], described["max"]) == (returns.min(), returns.max())
    assert described["lengths"] == [episode.length for episode in result.episodes]
    assert described["collisions"] is None  # this task has none


def test_a_single_episode_has_no_standard_error():
    result = evaluate(find_driver("driver:random", PENDULUM), PENDULUM.name, episodes=1)
    assert math.isnan(result.standard_error)
    assert result.as_dict()["standard_error"] is None
    assert "±" not in result.as_text()


def test_crashes_are_counted_as_collisions():
    lander = TASKS["lunar-lander"]
    result = evaluate(find_driver("driver:constant-action=-1,0", lander), lander.name, episodes=4)
    assert result.collisions == 4
    assert all(episode.terminated for episode in result.episodes)


def test_seeds_of_episodes():
    assert episode_seed(0, 0) == episode_seed(0, 0) < 2**32
    assert len({episode_seed(seed, index) for seed in range(30) for index in range(30)}) == 900


def test_more_episodes_begin_with_the_same_ones():
    driver = find_driver("driver:random", PENDULUM)
    few, many = (evaluate(driver, PENDULUM.name, episodes=n, seed=5) for n in (3, 6))
    assert many.episodes[:3] == few.episodes


def test_progress_is_reported():
    calls = []
    driver = find_driver("driver:random", PENDULUM)
    evaluate(driver, PENDULUM.name, episodes=3, progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_a_policy_for_another_task_is_refused():
    with pytest.raises(PolicyError, match="feature 0 is 'cart_position', but the task's is 'x'"):
        evaluate(balancer(), "lunar-lander")
    fewer = Policy("small", PENDULUM.features[:3], PENDULUM.actions, (Leaf((Controller(),)),))
    with pytest.raises(PolicyError, match="it has 3 features, but the task has 4"):
        PENDULUM.check_fits(fewer)


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"workers": 0}, {"seed": -1}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        evaluate(find_driver("driver:random", PENDULUM), PENDULUM.name, **wrong)


def test_an_action_that_is_not_finite_is_reported():
    class Broken:
        def act(self, observation):
            return [math.nan]

    with pytest.raises(TaskError, match="force is nan"):
        evaluate(Broken(), PENDULUM.name, episodes=1)


def test_the_report_in_full():
    result = evaluate(balancer(), "inverted-pendulum", episodes=2, name="balancer.json")
    first, second = (100 * steps / 2000 for steps in result.leaf_visits.values())
    assert result.as_text() == (
        "balancer.json on inverted-pendulum: 2 episodes, seed 0\n"
        "  return      1000.00 ± 0.00 (mean ± standard error)\n"
        "              median 1000.00, min 1000.00, max 1000.00\n"
        "  length      1000.0 steps (1000 to 1000); 0 of 2 ended early\n"
        "  outside     0 of 2000 observations left the declared bounds\n"
        f"  leaf use    leaf 1   {first:5.1f} %\n"
        f"              leaf 2   {second:5.1f} %"
    )


def test_a_film_of_an_episode(tmp_path):
    from PIL import Image

    frames = film(find_driver("driver:random", PENDULUM), PENDULUM.name, seed=3, every=2)
    write_video(tmp_path / "film.gif", frames, fps=25)
    with Image.open(tmp_path / "film.gif") as image:
        assert image.size == (600, 400)
        assert image.n_frames == len(frames) > 1


def test_wrong_video_paths_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"ends in \.gif or \.mp4"):
        write_video("film.avi", [], fps=25)
    with pytest.raises(ConfigError, match="does not exist"):
        write_video(tmp_path / "nowhere" / "film.gif", [], fps=25)
