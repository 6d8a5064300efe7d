"""What the page on guarantees shows is what the package does."""

import re
import shlex
from pathlib import Path

import pytest

from icct.cli import guarantee as verb
from icct.cli.flags import Parser
from icct.plant import read_plant
from icct.zoo import zoo_policy

PAGE = (Path(__file__).parents[2] / "docs" / "guarantees.md").read_text()


def test_the_python_on_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    exec(code, {})
    assert capsys.readouterr().out.startswith("proved   always when time >= 0.5")


def test_the_commands_on_the_page_are_understood() -> None:
    commands = re.findall(r"^icct guarantee ((?:.*\\\n)*.*)$", PAGE, flags=re.M)
    assert len(commands) >= 3
    for command in commands:
        parser = Parser(prog="icct guarantee")
        verb.add_arguments(parser)
        options = parser.parse_args(shlex.split(command.replace("\\\n", " "), comments=True))
        plant = read_plant(options.plant)
        plant.check_fits(zoo_policy(options.policy.removeprefix("zoo:")))
        assert verb._asked(plant, options)


def test_the_figures_on_the_page_exist() -> None:
    for picture in re.findall(r"\]\((figures/[^)]*)\)", PAGE):
        assert (Path("docs") / picture).is_file()
