"""How long a recipe takes, and how it is made to fit."""

import pytest

from icct.cli.progress import clock
from icct.recipe import make_recipe
from icct.recipe.plan import Pace, fitted, measure_pace, plan

PACE = Pace(train_steps_per_s=100.0, env_steps_per_s=10_000.0, workers=2)


def test_the_stages_add_up() -> None:
    recipe = make_recipe("lunar-lander", ("icct-1-feature", "icct-2-feature"), seeds=(0, 1))
    found = plan(recipe, PACE)
    seconds = {name: seconds for name, _, seconds in found.stages}
    assert recipe.teach is not None
    assert seconds["teach"] == recipe.teach.steps / 100
    assert seconds["polish"] == 4 * recipe.polish_episodes * recipe.episode_steps / 20_000
    assert found.seconds == pytest.approx(sum(filter(None, seconds.values())))
    assert "2 teachers" in found.as_text(clock)
    assert "for each of 4 trees" in found.as_text(clock)


def test_without_a_measured_speed_of_training_nothing_is_promised() -> None:
    pace = Pace(train_steps_per_s=None, env_steps_per_s=10_000.0, workers=2)
    assert plan(make_recipe("lunar-lander"), pace).seconds is None


@pytest.mark.parametrize("minutes", [2.0, 10.0, 60.0])
def test_teaching_takes_its_share_of_the_minutes_at_most(minutes: float) -> None:
    recipe = fitted(make_recipe("lunar-lander", minutes=minutes), PACE)
    assert recipe.teach is not None
    stages = {name: seconds for name, _, seconds in plan(recipe, PACE).stages}
    assert stages["teach"] is not None
    assert stages["distil"] is not None
    assert stages["teach"] <= 0.55 * 60 * minutes
    assert stages["distil"] <= 0.2 * 60 * minutes
    assert recipe.teach.learning.learning_starts < recipe.teach.steps / 2


@pytest.mark.parametrize(("minutes", "probes"), [(40.0, 800), (30.0, 400), (5.0, 0)])
def test_extending_takes_its_share_of_the_minutes_at_most(minutes: float, probes: int) -> None:
    whole = make_recipe("multi-lane-ring", minutes=minutes, teacher=("teacher.json",))
    recipe = fitted(whole, PACE)
    stages = {name: seconds for name, _, seconds in plan(recipe, PACE).stages}
    assert whole.extend_probes == 800
    assert recipe.extend_probes == probes
    assert (stages.get("extend") or 0.0) <= 0.2 * 60 * minutes


def test_a_long_time_changes_nothing() -> None:
    recipe = make_recipe("lunar-lander", minutes=1e5)
    assert fitted(recipe, PACE) == recipe


def test_speeds_are_measured() -> None:
    recipe = make_recipe("inverted-pendulum", critic_hidden=(8,), batch_size=8)
    pace = measure_pace(recipe, workers=3, device="cpu")
    assert pace.train_steps_per_s is not None
    assert pace.train_steps_per_s > 1
    assert pace.env_steps_per_s > 100
    assert pace.workers == 3
