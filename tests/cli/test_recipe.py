"""`icct train` by the recipe: what it says before, while and after; what it goes on with."""

import json
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.policy.file import read_policy

SMALL = ("--teacher", "zoo:pole-balancer", "--rounds", "0", "--round-episodes", "1",
         "--validation-episodes", "2", "--fresh-episodes", "2", "--polish-episodes", "0",
         "--workers", "1")  # fmt: skip
TRAINED = ("--steps", "150", "--learning-starts", "100", "--batch-size", "16", "--evaluate-every",
           "100", "--evaluate-episodes", "1", "--critic-hidden", "8", "--device", "cpu",
           *SMALL[2:])  # fmt: skip


def test_it_says_what_it_will_do_and_how_every_stage_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    words = ["train", "inverted-pendulum", "--method", "icct-1-feature", "icct-static", *TRAINED]
    assert main([*words, "--seeds", "2", "--teachers", "2", "--out", str(run)]) == 0
    said = capsys.readouterr()
    assert "teach    icct-complete, 4 teachers, 150 steps each" in said.err
    assert "--minutes M fits it into M minutes" in said.err
    assert said.err.index("in all about") < said.err.index("teach: 4 of icct-complete")
    assert "mean return over 2 fresh episodes" in said.out
    assert "icct-static seed 1" in said.out
    for method, features in (("icct-1-feature", 1), ("icct-static", 0)):
        policy = read_policy(run / "policies" / method / "seed-1.json")
        assert policy.name == f"{method}-seed-1"
        assert policy.provenance.method == method
        rules = [rule for i in policy.leaves for rule in policy.leaf(i).controllers]
        assert max(len(rule.weights) for rule in rules) <= features
    assert main(["train", "--resume", str(run)]) == 0  # finished: shown again, not done again
    assert capsys.readouterr().out == said.out


def test_a_stopped_run_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    run = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr("icct.recipe.stages.prune", stop)
        assert main(["train", "inverted-pendulum", *SMALL, "--out", str(run)]) == 130
    assert f"go on with: icct train --resume {run}" in capsys.readouterr().out
    assert main(["train", "--resume", str(run), "--rounds", "3"]) == 2
    assert "goes on as it was configured" in capsys.readouterr().err
    assert main(["train", "--resume", str(run)]) == 0
    assert (run / "policies" / "seed-0.json").exists()
    assert "elapsed_s" in json.loads((run / "run.json").read_text())


def test_a_tree_is_pruned_by_its_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = tmp_path / "short.json"
    words = ["prune", "zoo:pole-balancer", "--episodes", "5", "--workers", "1", "-o", str(short)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert f"written to {short}" in said
    assert f"-> {read_policy(short).parameter_count}" in said
    assert main(["prune", str(short), "--episodes", "5", "-o", str(short)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["after"]["episodes"] == 5
