"""The commands that prove, measure, compare and audit, in-process."""

import json
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.policy.file import read_policy
from icct.zoo import load_policy

RING = "zoo:ring-cruiser"
PROVED = "when speed_ego > 0.13 then acceleration <= 0"


@pytest.mark.parametrize(
    ("properties", "status"),
    [([PROVED], 0), ([PROVED, "acceleration < 1"], 1), (["speed_eg < 1"], 2), ([], 2)],
)
def test_exit_status(properties: list[str], status: int) -> None:
    assert main(["verify", RING, *properties]) == status


def test_undecided_exits_with_3() -> None:
    pole = load_policy("zoo:pole-balancer")
    largest = float(pole.act([0, -0.1, 0, 0.5])[0])  # leaf 2 rises with the last feature only
    premise = "pole_angle < -0.01 and cart_velocity = 0 and pole_angular_velocity <= 0.5"
    assert main(["verify", "zoo:pole-balancer", f"when {premise} then force <= {largest!r}"]) == 3
    assert main(["verify", "zoo:pole-balancer", f"when {premise} then force < {largest!r}"]) == 1


def test_vacuous_exits_with_4_unless_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    slip = "when speed_ego > 3.9 then acceleration <= 0"  # in m/s; the feature is in 30 m/s
    assert main(["verify", RING, slip]) == 4
    assert capsys.readouterr().out.startswith(f"vacuous  {slip}\n")
    assert main(["verify", RING, slip, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["answers"][0]["answer"] == "vacuous"
    assert main(["verify", RING, slip, PROVED, "--allow-vacuous"]) == 0
    assert main(["verify", RING, slip, "acceleration < 1"]) == 1  # refuted counts more
    assert main(["verify", RING, slip, "acceleration < 1", "--allow-vacuous"]) == 1


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["verify", RING, "acceleration <= 0.5", "--properties", "single-lane-ring", "--json"])
        == 1
    )
    content = json.loads(capsys.readouterr().out)
    refuted, *others = content["answers"]
    assert refuted["answer"] == "refuted"
    assert refuted["action"] == {"acceleration": 1.0}
    assert len(refuted["observation"]) == 44
    assert [other["answer"] for other in others] == ["proved", "proved", "proved", "refuted"]
    assert others[1]["margin"] == 1.0


def test_an_error_points_at_the_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", RING, "when speed_eg > 0.1 then acceleration < 2"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "icct verify: column 6: 'speed_eg' is not a feature or action of ring-cruiser. "
        "Did you mean 'speed_ego'?",
        "  when speed_eg > 0.1 then acceleration < 2",
        "       ^",
    ]


def test_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", RING]) == 0
    assert "acceleration falls with speed_ego" in capsys.readouterr().out
    assert main(["measure", RING, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ranges"] == {"acceleration": [-1.0, 1.0]}
    assert main(["measure", RING, "--observation", "speed_ego=0.12", "--delta", "0.3"]) == 0
    assert "flips at split 2, 0.01 away" in capsys.readouterr().out


def test_diff(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = str(tmp_path / "mine.json")
    assert main(["edit", RING, "--set", "node 2 threshold = 0.119", "-o", mine]) == 0
    capsys.readouterr()
    assert main(["diff", RING, mine]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "acceleration changes by at most 0.3 m/s^2"
    assert lines[1].startswith("  shown: 0.3 m/s^2 at speed_ego=0.119")
    assert main(["diff", RING, RING, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["alike"] == 1.0
    assert main(["edit", RING, "--rename", "speed_ego=v", "-o", mine]) == 0
    assert main(["diff", RING, mine]) == 2
    assert "must have the same features" in capsys.readouterr().err


def test_edit_with_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = str(tmp_path / "mine.json")
    own = tmp_path / "own.toml"
    own.write_text(f'[slow-down]\nproperty = "{PROVED}"\nwhy = "Damping."\n')
    words = [
        "edit",
        RING,
        "--set",
        "node 4 acceleration bias = 0.5",
        "--check",
        str(own),
        "-o",
        mine,
    ]
    assert main(words) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "           before                     after",
        "slow-down  proved, margin 1.00 m/s^2  refuted by 0.50 m/s^2",
    ]
    assert read_policy(mine).nodes[4].controllers[0].bias == 0.5  # type: ignore[union-attr]
    words[3] = "node 4 acceleration bias = -0.5"
    assert main(words) == 0
    own.write_text('[slip]\nproperty = "when speed_ego > 2 then acceleration < 0"\nwhy = "w"\n')
    capsys.readouterr()
    assert main(words) == 4
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "slip  vacuous  vacuous"
    assert "warning: slip: speed_ego is compared with 2" in printed.err
    assert printed.err.endswith("Did you mean 2 m/s?\n")
    assert main([*words, "--allow-vacuous"]) == 0
    own.write_text('[x]\nproperty = "when speed_own > 0.2 then acceleration < 0"\nwhy = "w"\n')
    assert main([*words, "--rename", "speed_ego=speed_own"]) == 0
    assert main(words) == 2  # speed_own is not known without the new name


@pytest.mark.sumo
def test_edit_with_evaluate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = str(tmp_path / "mine.json")
    change = ["--set", "node 0 threshold = 0.09", "--evaluate", "1"]
    assert main(["edit", RING, *change, "-o", mine]) == 0
    row = capsys.readouterr().out.splitlines()[-2].split()
    assert row[:3] == ["return", "on", "single-lane-ring"]
    assert float(row[3]) == pytest.approx(float(row[4]))  # node 1 acts as node 3 does there


def test_audit(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--task", "inverted-pendulum", "--episodes", "1"]
    assert main(["audit", "zoo:pole-balancer", *words]) == 1
    printed = capsys.readouterr().out
    assert "never visited: leaves 3" in printed
    assert "unlike its mirror image: force" in printed
    assert main(["audit", "zoo:pole-balancer", *words, "--saturation", "1", "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["steps"] == 1000
    assert content["saturated_too_often"] in ([], ["force"])
    assert main(["audit", RING, *words]) == 2
    assert main(["audit", "zoo:lane-keeper", "--task", "lane-keeping", "--episodes", "1"]) == 0
    assert "nothing to remark" in capsys.readouterr().out
