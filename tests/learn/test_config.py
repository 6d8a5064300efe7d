"""Every option of training: one owner, one type, refused in words where it is wrong."""

from pathlib import Path

import pytest

from icct.cli.main import main
from icct.envs.catalog import INVERTED_PENDULUM
from icct.errors import ConfigError
from icct.learn.build import make_actor
from icct.learn.config import TrainConfig, make_config
from icct.learn.config import config_of as named_options
from icct.learn.run import read_configs
from icct.options import OPTIONS
from tests.cli.test_train_options import config_of


def config_of_values(task: object, name: str, value: object) -> TrainConfig:
    return named_options(task, {} if name == "task" else {name: value})  # type: ignore[arg-type]


WRONG = (4.5, "word", True, None, [], ["x"], [True], {"x": 1}, 10**40, -(10**40), float("nan"))


@pytest.mark.parametrize("name", ["task", *OPTIONS])
def test_no_value_of_an_option_is_a_surprise(name: str) -> None:
    """Whatever a file says of an option: a configuration, or a refusal that names the option."""
    refusals = []
    for value in WRONG:
        try:
            config_of_values(INVERTED_PENDULUM if name != "task" else value, name, value)
        except ConfigError as error:
            refusals.append(str(error))
    assert len(refusals) >= 4
    assert all(name in said.replace(" ", "_") for said in refusals)


@pytest.mark.parametrize("value", [3, None, [], True])
def test_a_task_that_is_no_name_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="task"):
        make_config(task=value)  # type: ignore[arg-type]


def test_the_seeds_of_a_file_are_trained(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text("seeds = [4, 5]\nmethod = 'icct-static'\n")
    asked = ("inverted-pendulum", "--config", str(file))
    assert config_of(*asked).seeds == (4, 5)
    assert config_of(*asked).method == "icct-static"
    assert config_of(*asked, "--seeds", "1").seeds == (0,)
    words = ["train", "--config", str(file), "--method", "mlp-lower", "--steps", "20"]
    words += ["--learning-starts", "15", "--evaluate-episodes", "1", "--batch-size", "8"]
    file.write_text("seeds = [4, 5]\ntask = 'inverted-pendulum'\n")
    assert main([*words, "--out", str(tmp_path / "run"), "--device", "cpu"]) == 0
    (config,) = read_configs(tmp_path / "run")
    assert (config.task.name, config.method, config.seeds) == (
        "inverted-pendulum",
        "mlp-lower",
        (4, 5),
    )


def test_a_method_brings_its_own_penalty() -> None:
    built = TrainConfig(task=INVERTED_PENDULUM, method="icct-l1-sparse")
    assert built.per_member("l1") == make_config("inverted-pendulum", "icct-l1-sparse").per_member(
        "l1"
    )
    assert make_actor(built).l1.tolist() == pytest.approx([5e-3])
    assert TrainConfig(task=INVERTED_PENDULUM).per_member("l1") == (0.0,)


def test_only_recipes_that_exist_are_offered() -> None:
    with pytest.raises(ConfigError, match="recipe"):
        TrainConfig(task=INVERTED_PENDULUM, recipe="icc")  # type: ignore[arg-type]


def test_a_start_named_in_a_file_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from icct.policy.file import write_policy
    from icct.zoo import zoo_policy

    monkeypatch.chdir(tmp_path)
    write_policy(zoo_policy("pole-balancer"), tmp_path / "tree.json")
    Path("options.toml").write_text("init = ['tree.json']\n")
    config = make_config("inverted-pendulum", file="options.toml")
    assert config.start.init == (str(tmp_path / "tree.json"),)
