"""A policy says how to make it again, and is made again by what it says."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from icct import Policy, Provenance, read_policy, write_policy
from icct.cli.main import main
from icct.errors import PolicyError
from icct.learn.config import make_config
from icct.learn.provenance import provenance
from icct.remake import command_to_remake
from icct.zoo import zoo_policy

SMALL = "--steps 130 --learning-starts 110 --batch-size 8 --critic-hidden 8,8 --buffer-size 200"
SMALL += " --evaluate-every 130 --evaluate-episodes 1"
HERE = ["--device", "cpu", "--workers", "1", "--scoring-workers", "1"]


def test_a_policy_is_made_again_by_its_own_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = "inverted-pendulum --recipe paper --method icct-1-feature --seeds 2,3 --normalise"
    asked += f" --option pole_length=1.2 --actor-lr 1e-3,2e-3 {SMALL}"
    assert main(["train", *asked.split(), *HERE, "--out", str(tmp_path / "one")]) == 0
    file = tmp_path / "one" / "policies" / "seed-3.final.json"
    capsys.readouterr()
    assert main(["show", str(file), "--again"]) == 0
    command = capsys.readouterr().out.strip()
    assert "--seeds 3, " in command
    assert "--actor-lr 0.002" in command
    assert "--option pole_length=1.2" in command
    assert "--gamma" not in command  # that is the preset's
    words = shlex.split(command)[1:]
    assert main([*words, *HERE, "--out", str(tmp_path / "two")]) == 0
    again = read_policy(tmp_path / "two" / "policies" / "seed-3.final.json")
    assert again.nodes == read_policy(file).nodes


def test_the_history_of_a_start_is_kept(tmp_path: Path) -> None:
    start = zoo_policy("pole-balancer").noted("moved a threshold")
    write_policy(start, tmp_path / "start.json")
    config = make_config("inverted-pendulum", init=(str(tmp_path / "start.json"),))
    made = provenance(config, 0, 500)
    assert made.history[:-1] == start.provenance.history
    assert made.history[-1] == f"trained: 500 steps of sac, from {start.name}"
    assert dict(made.config)["init"] == "start.json"  # not where it lay on this machine


def test_nothing_of_the_preset_is_repeated() -> None:
    made = provenance(make_config("lunar-lander", "icct-static"), 0, 10)
    assert made.config == (("recipe", "paper"), ("algorithm", "sac"))


@pytest.mark.parametrize(
    ("pair", "says"),
    [(("stpes", 3), "Did you mean 'steps'"), (("grow", 3), "grow is 3"), (("steps", None), "None")],
)
def test_what_a_file_says_is_checked(pair: tuple[str, object], says: str) -> None:
    made = provenance(make_config("lunar-lander", "icct-static"), 0, 10)
    with pytest.raises(PolicyError, match=says):
        command_to_remake(replace(made, config=(*made.config, pair)))  # type: ignore[arg-type]


def test_what_was_edited_has_no_command(tmp_path: Path) -> None:
    policy: Policy = zoo_policy("pole-balancer")
    write_policy(replace(policy, provenance=Provenance()), tmp_path / "tree.json")
    assert main(["show", str(tmp_path / "tree.json"), "--again"]) == 1
