import argparse
from pathlib import Path

import pytest

from icct.cli.train import add_arguments
from icct.cli.train import config_of as configured
from icct.learn.config import TrainConfig
from icct.policy.file import write_policy
from icct.zoo import zoo_policy


def config_of(*arguments: str) -> TrainConfig:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return configured(parser.parse_args(arguments), None)


@pytest.mark.parametrize(("flag", "grows"), [((), True), (("--no-grow",), False)])
def test_a_flag_goes_before_the_file(flag: tuple[str, ...], grows: bool, tmp_path: Path) -> None:
    file = tmp_path / "growing.toml"
    file.write_text("grow = true\nleaves = 2\n")
    assert config_of("inverted-pendulum", "--config", str(file), *flag).growth.grow is grows


def test_a_start_is_found_again_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_policy(zoo_policy("pole-balancer"), tmp_path / "tree.json")
    start = ("--init", "tree.json", "zoo:pole-balancer", "--seeds", "2")
    assert config_of("inverted-pendulum", *start).start.init == (
        str(tmp_path / "tree.json"),
        "zoo:pole-balancer",
    )
