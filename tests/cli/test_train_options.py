import argparse
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.cli.train import add_arguments
from icct.cli.train import config_of as configured
from icct.learn.config import TrainConfig
from icct.options import OPTIONS
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


@pytest.mark.parametrize("text", ["100000", "100_000", "1e5"])
def test_whole_numbers_are_written_as_people_write_them(text: str) -> None:
    assert config_of("inverted-pendulum", "--steps", text).steps == 100_000


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--stpes 3", "there is no option --stpes. Did you mean '--steps'?"),
        ("--steps 1.5", "--steps: '1.5', expected a whole number."),
        ("--gamma high", "--gamma: 'high', expected a number."),
        ("lunar-lander", "'lunar-lander' is one word too many."),
    ],
)
def test_a_slip_is_told_in_one_line(
    words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "inverted-pendulum", *words.split()]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1


def test_every_option_has_one_owner_and_a_flag() -> None:
    names = [item.name for item in OPTIONS.values()]
    assert len(set(names)) == len(names) == 39
    given = {"entropy": 0.1, "policy_delay": 3, "leaves": 4, "max_leaves": 9, "gamma": 0.5}
    flags = [w for n, v in given.items() for w in (f"--{n.replace('_', '-')}", str(v))]
    config = config_of("inverted-pendulum", *flags)
    assert (config.sac.entropy, config.td3.policy_delay, config.tree.leaves) == (0.1, 3, 4)
    assert (config.growth.max_leaves, config.learning.gamma) == (9, 0.5)
