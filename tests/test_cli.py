"""The real commands, in-process."""

import json
from pathlib import Path

import pytest

from icct import __version__
from icct.cli.main import VERBS, main
from icct.policy.file import read_policy
from icct.policy.given import read_quantity
from icct.zoo import zoo_policy

RING = "zoo:ring-cruiser"


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {verb} " in printed for verb in VERBS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"icct {__version__}\n"
    assert main([]) == 2


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    assert f"  icct {verb}" in capsys.readouterr().out


def test_an_unknown_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shwo"]) == 2
    assert "Did you mean 'show'?" in capsys.readouterr().err


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", RING]) == 0
    assert "if speed_ego <= 3.00 m/s:   [0]" in capsys.readouterr().out
    assert main(["show", RING, "--rules"]) == 0
    assert "if speed_ego > 3.90 m/s: acceleration = -1.00 m/s^2" in capsys.readouterr().out


def test_show_an_observation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", RING, "--observation", "speed_ego=0.118"]) == 0
    printed = capsys.readouterr().out
    assert ">     if speed_ego <= 3.90 m/s:   [2]" in printed
    assert printed.endswith("-> acceleration = -0.40 m/s^2\n")
    numbers = ["0"] * 44
    assert main(["show", RING, "--json", "--observation", *numbers]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["path"] == [0, 1]
    assert content["action"] == {"acceleration": 1.0}


def test_show_json_is_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["show", RING, "--json"]) == 0
    copy = tmp_path / "copy.json"
    copy.write_text(capsys.readouterr().out)
    assert read_policy(copy) == zoo_policy("ring-cruiser")


def test_edit_then_simplify(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    edited, simpler = str(tmp_path / "edited.json"), str(tmp_path / "simpler.json")
    changes = ["--set", "node 0 threshold=0.116", "--set", "node 3 acceleration bias = 34.5"]
    assert main(["edit", RING, *changes, "--rename", "speed_ego=speed_own", "-o", edited]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "split 0: threshold 0.1 becomes 0.116 (3 to 3.48 m/s)",
        "leaf 3: acceleration bias 35 becomes 34.5",
        "speed_ego is now called speed_own",
        "  acceleration changes by at most 0.8 m/s^2",
    ]
    assert main(["edit", edited, "--replace", "node 2 = node 3", "-o", edited, "--force"]) == 0
    assert main(["simplify", edited, "--decimals", "2", "-o", simpler]) == 0
    assert "numbers rounded to 2 decimals" in capsys.readouterr().out
    assert read_policy(simpler).nodes[0].threshold == 0.12  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "none.json"], "none.json: cannot be read: No such file"),
        (["show", RING, "--observation", "1", "2"], "found 2 numbers, expected 44"),
        (["show", RING, "--observation", "speed_eg=1"], "Did you mean 'speed_ego'?"),
        (["show", RING, "--observation", "speed_human_0=1"], "no value for speed_ego"),
        (["show", RING, "--observation", "speed_ego=fast"], "speed_ego is 'fast'"),
        (["edit", RING, "-o", "x.json"], "nothing to do"),
        (["edit", RING, "--set", "node 0 = 3", "-o", "x.json"], 'expected "node N threshold'),
        (
            ["edit", RING, "--set", "node 0 threshold = 1.2.3", "-o", "x"],
            "threshold is '1.2.3', expected a number, with or without m/s",
        ),
        (["edit", RING, "--replace", "node 0", "-o", "x"], 'expected "node N = node M"'),
        (["simplify", RING, "--decimals", "-1", "-o", "x.json"], "decimals is -1"),
        (["simplify", RING, "--decimals", "many", "-o", "x.json"], "invalid int value: 'many'"),
        (["simplify", RING], "the following arguments are required: -o"),
    ],
)
def test_wrong_use_exits_with_2_and_says_why(
    words: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_physical_units_in_observations_and_edits(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plain = ["show", RING, "--observation"]
    assert main([*plain, "speed_ego=0.118"]) == 0
    raw = capsys.readouterr()
    assert raw.err == ""
    for words in (["speed_ego=3.54m/s"], ["speed_ego=3.54", "m/s"], ["speed_ego=3.54 m/s"]):
        assert main([*plain, *words]) == 0
        assert capsys.readouterr() == raw
    assert main([*plain, "speed_ego=3.5"]) == 0
    assert "warning: speed_ego = 3.5 is outside its bounds" in (err := capsys.readouterr().err)
    assert err.endswith("Did you mean 3.5 m/s?\n")
    assert main([*plain, "speed_ego=3.5 km/h"]) == 2
    assert "speed_ego is in m/s" in capsys.readouterr().err

    out = tmp_path / "mine.json"
    assert main(["edit", RING, "--set", "node 0 threshold = 3.3 m/s", "-o", str(out)]) == 0
    assert "threshold 0.1 becomes 0.11 (3 to 3.3 m/s)" in capsys.readouterr().out
    assert read_policy(out).nodes[0].threshold == 0.11  # type: ignore[union-attr]
    assert main(["edit", RING, "--set", "node 0 threshold = 3.3", "-o", str(out)]) == 0
    printed = capsys.readouterr().err
    assert "warning: node 0: nothing goes above speed_ego = 3.3" in printed
    assert "Did you mean 3.3 m/s?" in printed
    change = "node 3 acceleration speed_ego weight = -9 m/s^2 per m/s"
    assert main(["edit", RING, "--set", change, "-o", str(out)]) == 0
    assert "weight -300 becomes -270 (-10 to -9 m/s^2 per m/s)" in capsys.readouterr().out
    assert main(["edit", RING, "--set", "node 3 acceleration bias = 3 m", "-o", str(out)]) == 2
    assert "acceleration is in m/s^2" in capsys.readouterr().err


def test_rounding_is_stated_and_exact_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    lander = "zoo:lunar-lander/icct-2-feature"
    assert main(["show", RING]) == 0
    assert "rounded" not in capsys.readouterr().out
    rounded = "results/earlier-preset/policies/figure-eight.icct-2-feature.paper.seed-0.best.json"
    assert main(["show", rounded]) == 0
    assert "(numbers are rounded to three digits; --exact" in capsys.readouterr().out
    assert main(["show", rounded, "--exact"]) == 0
    printed = capsys.readouterr().out
    assert "rounded" not in printed
    policy = read_policy(rounded)
    root = policy.nodes[0]
    feature = policy.features[root.feature]  # type: ignore[union-attr]
    limit = printed.partition("if ")[2].partition(":")[0].partition(" <= ")[2]
    assert read_quantity(limit, feature) == root.threshold  # type: ignore[union-attr]
    assert main(["show", lander, "--exact"]) == 0
