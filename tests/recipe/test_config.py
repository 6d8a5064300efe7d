"""What a recipe is made of: presets, files and flags, and what is refused before anything runs."""

from pathlib import Path

import pytest

from icct.errors import ConfigError
from icct.recipe.config import Student, make_recipe, recipe_from_json


def test_students_have_the_papers_leaves_and_share_their_teachers() -> None:
    recipe = make_recipe("lunar-lander", ("icct-static", "icct-2-feature"), seeds=(0, 3))
    assert recipe.students == (Student("icct-static", 32), Student("icct-2-feature", 8))
    assert recipe.teach is not None
    assert recipe.teach.method == "icct-complete"
    assert recipe.teach.seeds == (0, 3)
    assert len(recipe.trees) == 4


def test_each_seed_has_teachers_of_its_own_to_choose_from() -> None:
    recipe = make_recipe("lunar-lander", seeds=(0, 2), teachers=3)
    assert recipe.teach is not None
    assert recipe.teach.seeds == (0, 1, 2, 6, 7, 8)
    assert recipe.teacher_seeds(2) == (6, 7, 8)


def test_options_of_training_are_the_teachers_and_leaves_the_trees() -> None:
    recipe = make_recipe("lunar-lander", steps=1234, leaves=4, rounds=2)
    assert recipe.teach is not None
    assert (recipe.teach.steps, recipe.teach.tree.leaves) == (1234, 8)
    assert (recipe.students[0].leaves, recipe.rounds) == (4, 2)


def test_a_file_may_hold_options_of_both_kinds(tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    file.write_text('task = "inverted-pendulum"\nsteps = 99\nleaves = 4\npolish_episodes = 0\n')
    recipe = make_recipe(None, file=file, polish_episodes=700)
    assert recipe.teach is not None
    assert (recipe.teach.steps, recipe.polish_episodes) == (99, 700)
    assert recipe.students == (Student("icct-2-feature", 4),)


def test_it_is_written_and_read_back() -> None:
    for recipe in (
        make_recipe("lunar-lander", ("icct-1-feature",), seeds=(1, 2), minutes=4.0),
        make_recipe("Pendulum-v1", teacher=("driver:cruise",), balanced=True),
        make_recipe("inverted-pendulum", options={"pole_length": 1.2}),
    ):
        assert recipe_from_json(recipe.as_json(), "run.json") == recipe


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"methods": ("mlp-max",)}, "--recipe paper"),
        ({"methods": ("icct-2-featur",)}, "icct-2-feature"),
        ({"methods": ("icct-static", "icct-static")}, "each of them once"),
        ({"teacher": ("a.json",), "steps": 100}, "steps: an option of training"),
        ({"rounds": -1}, "rounds is -1"),
        ({"teachers": 0}, "teachers is 0"),
        ({"minutes": 0.0}, "minutes is 0.0"),
        ({"minutes": float("nan")}, "minutes is nan"),
        ({"polish_episodes": 1.5}, "polish_episodes is 1.5"),
        ({"leaves": 6, "balanced": True}, "power of two"),
        ({"stepz": 3}, "stepz"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        make_recipe("lunar-lander", **changes)  # type: ignore[arg-type]


def test_a_run_file_with_an_unknown_option_is_refused() -> None:
    values = make_recipe("lunar-lander").as_json() | {"roundz": 3}
    with pytest.raises(ConfigError, match=r"run.json: .*'roundz'.*rounds"):
        recipe_from_json(values, "run.json")
