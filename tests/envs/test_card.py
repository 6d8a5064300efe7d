"""Task cards: written, edited, read again, and refused where they make no sense."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.envs import find_task
from icct.envs.card import card_text, read_card, task_from_values, task_to_values
from icct.envs.catalog import TASKS
from icct.errors import TaskError
from icct.learn import make_config
from icct.policy import Action, Feature

EXAMPLE = Path(__file__).parents[2] / "examples" / "car-following.toml"
MINIMAL = """
format = "icct-task"
version = 1
name = "swing"
environment = "Pendulum-v1"
horizon = 200
[[features]]
name = "cos"
low = -1
high = 1
[[features]]
name = "sin"
low = -1
high = 1
[[features]]
name = "speed"
unit = "rad/s"
scale = 2.5
low = -8
high = 8
[[actions]]
name = "torque"
unit = "N m"
low = -2
high = 2
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "card.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["Pendulum-v1", "InvertedPendulum-v5", "BipedalWalker-v3"])
def test_a_card_reads_as_the_task_it_was_written_of(name: str, tmp_path: Path) -> None:
    task = replace(find_task(name), collision="crashed", per_process=3)
    path = written(tmp_path, card_text(task, tmp_path))
    assert read_card(path) == task
    assert task_from_values(json.loads(json.dumps(task_to_values(task)))) == task


def test_options_and_odd_names_survive(tmp_path: Path) -> None:
    task = find_task("Pendulum-v1", {"g": 9.81})
    odd = replace(task, options=(*task.options, ("odd name", 'a "quoted" \\ text'), ("on", True)))
    assert read_card(written(tmp_path, card_text(odd, tmp_path))).options == odd.options


def test_a_file_of_code_lies_relative_to_the_card(tmp_path: Path) -> None:
    task = find_task(f"{EXAMPLE.parent / 'car_following.py'}:CarFollowing")
    assert read_card(EXAMPLE).environment == task.environment
    (tmp_path / "cards").mkdir()
    path = tmp_path / "cards" / "car.toml"
    path.write_text(card_text(task, path.parent))
    assert str(tmp_path) not in path.read_text()
    assert read_card(path).environment == task.environment


def test_what_a_card_says_counts(tmp_path: Path) -> None:
    train = "[train]\ngamma = 0.9\nleaves = 4\n"
    properties = '[properties.gentle]\nproperty = "torque <= 2"\nwhy = "It has no more."\n'
    path = written(tmp_path, MINIMAL + train + properties)
    task = find_task(str(path))
    assert task.features[2] == Feature("speed", "x 2.5 rad/s", -8, 8, "physical")
    assert task.actions == (Action("torque", "N m", -2, 2),)
    assert task.properties == (("gentle", "torque <= 2", "It has no more."),)
    config = make_config(task)
    assert (config.learning.gamma, config.tree.leaves, config.recipe) == (0.9, 4, "generic")
    assert make_config(task, gamma=0.8).learning.gamma == 0.8


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"icct-task"', '"icct-tusk"', "expected 'icct-task'"),
        ("version = 1", "version = 2", "expected 'icct-task' and 1"),
        ("horizon = 200", "horizont = 200", "unknown key 'horizont'.*Did you mean 'horizon'"),
        ("horizon = 200", "", "has no 'horizon'"),
        ("horizon = 200", "horizon = '200'", "horizon is '200', expected a whole number"),
        ("horizon = 200", "horizon = 0", "horizon is 0, expected at least 1"),
        ("low = -1\nhigh = 1", "low = 1\nhigh = -1", "expected low <= high"),
        ('"sin"', '"cos"', "two features are called 'cos'"),
        ('"sin"', '"sin x"', "a name is letters, digits and '_'"),
        ("scale = 2.5", "scale = 0", "scale is 0, expected a positive number"),
        ("scale = 2.5", 'origin = "guessed"', "origin is 'guessed'"),
        ("high = 2\n", "high = inf\n", "expected finite numbers"),
        ('name = "torque"', 'name = "torque"\norigin = "space"', "an action has no 'origin'"),
        ("[[actions]]", "[[action]]", "unknown key 'action'"),
        ("horizon = 200", "horizon = 200\noptions = 3", "options is 3, expected a table"),
        ("horizon = 200", "horizon = 200\noptions = {g = [1]}", "g is list, expected text"),
        ('"Pendulum-v1"', "Pendulum-v1", "TOML"),
    ],
)
def test_a_wrong_card_is_refused_in_words(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in MINIMAL
    path = written(tmp_path, MINIMAL.replace(old, new, 1))
    with pytest.raises(TaskError, match=says) as caught:
        find_task(str(path))
    assert "card.toml" in str(caught.value)


def test_cards_are_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pendulum.toml"
    words = ["tasks", "Pendulum-v1", "--card", "-o", str(path)]
    assert main(words) == 0
    path.write_text(path.read_text().replace('"x2"', '"speed"'))
    assert main(words) == 2
    assert "perhaps edited" in capsys.readouterr().err
    assert find_task(str(path)).features[2].name == "speed"
    assert main([*words, "--force"]) == 0
    assert find_task(str(path)).features[2].name == "x2"
    assert main(["tasks", "--card"]) == 2
    assert "which task?" in capsys.readouterr().err


def test_bounds_are_measured_with_a_driver_too(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tasks", "InvertedPendulum-v5", "--play", "driver:constant-action=3", "--json"]
    assert main(words) == 0
    (pushed,) = json.loads(capsys.readouterr().out)
    assert main(words[:2] + words[4:]) == 0
    (alone,) = json.loads(capsys.readouterr().out)
    widths = [[part["high"] - part["low"] for part in card["features"]] for card in (alone, pushed)]
    assert all(wide >= narrow for narrow, wide in zip(*widths, strict=True))
    assert widths[0] != widths[1]
    assert main(["tasks", str(EXAMPLE), "--play", "driver:random"]) == 2
    assert "are declared" in capsys.readouterr().err


def test_built_in_tasks_have_cards_too(tmp_path: Path) -> None:
    for task in TASKS.values():
        again = read_card(written(tmp_path, card_text(task, tmp_path)))
        assert (again.features, again.actions, again.horizon) == (
            task.features,
            task.actions,
            task.horizon,
        )
