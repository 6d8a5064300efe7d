"""The benches of the paper's other methods, on runs short enough for a test."""

from pathlib import Path

import pytest

from icct.bench.growing import best_actions, best_of_one_leaf, reward, toy_config
from icct.bench.weights import weigh_run, weights_above, weights_table
from icct.cli.main import main
from icct.envs.catalog import INVERTED_PENDULUM
from icct.errors import ConfigError
from icct.learn.build import make_actor
from icct.learn.config import make_config
from icct.learn.run import RUN_FILE, describe_run, write_json
from icct.learn.snapshot import Snapshot, snapshot, write_snapshot
from icct.policy import Controller, Leaf, Policy, Provenance


def run_folder(tmp_path: Path, *methods: str) -> Path:
    """Return a run folder as training leaves it, with members at their start."""
    configs = tuple(
        make_config("inverted-pendulum", method, seeds=(0, 1), leaves=4) for method in methods
    )
    folder = tmp_path / "run"
    for config in configs:
        place = folder / "policies" / (config.method if len(configs) > 1 else "")
        place.mkdir(parents=True, exist_ok=True)
        module = make_actor(config).eval()
        for member, seed in enumerate(config.seeds):
            actor: Snapshot = snapshot(module, config, member, Provenance())
            for kind in ("best", "final"):
                write_snapshot(actor, place / f"seed-{seed}.{kind}")
    write_json(folder / RUN_FILE, describe_run(configs))
    return folder


def test_trees_as_trained_and_crisp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    methods = ("cddt", "cddt-controllers", "icct-1-feature-gumbel", "icct-2-feature")
    run, results = run_folder(tmp_path, *methods), tmp_path / "results"
    words = ["bench", "crisp", str(run), "--results", str(results), "--episodes", "2"]
    assert main([*words, "--workers", "1"]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[1] for row in rows] == list(methods)
    assert rows[0][5:] == ["1000 ± 0", "5 ± 0 |"]  # the paper's
    assert rows[3][3] == rows[3][4]  # crisp while it learned: one and the same
    assert len(list((results / "crisp").glob("*.json"))) == 8
    assert len(list((results / "crisp" / "policies").glob("*.json"))) == 8


def test_students_of_every_teacher(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, results = run_folder(tmp_path, "mlp-lower"), tmp_path / "results"
    words = ["bench", "imitation", str(run), "--results", str(results), "--episodes", "2"]
    assert main(words) == 2
    assert "has no mlp-max to teach" in capsys.readouterr().err
    words += ["--teachers", "mlp-lower", "--leaves", "4", "--linear-leaves", "2", "--dagger", "1"]
    assert main([*words, "--round-episodes", "2"]) == 0
    table = capsys.readouterr().out
    for method in ("dt (4 leaves)", "dt-dagger (4 leaves)", "distilled-2-feature (2 leaves)"):
        assert f"| {method} | 2 |" in table
    assert "776.6 ± 54.2" in table  # the paper's DAgger
    assert len(list((results / "imitation" / "policies").glob("*.json"))) == 8
    made = {path: path.stat().st_mtime_ns for path in (results / "imitation").glob("*.json")}
    assert main([*words, "--round-episodes", "2"]) == 0  # all of it is there already
    assert capsys.readouterr().out == table
    assert all(path.stat().st_mtime_ns == time for path, time in made.items())


def test_weights_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = Controller(((0, 0.5), (1, -0.02), (2, 0.0), (3, -0.01)))
    policy = Policy("tree", INVERTED_PENDULUM.features, INVERTED_PENDULUM.actions, (Leaf((rule,)),))
    assert [weights_above(policy, t) for t in (0.0, 0.01, 0.1, 0.5)] == [3, 2, 1, 0]
    run = run_folder(tmp_path, "icct-l1-sparse")
    assert [one.weights for one in weigh_run(run, [0.1])] == [16, 16]  # 4 leaves, 4 features
    assert "above 0.1" in weights_table(weigh_run(run, [0.1]), [0.1])
    assert main(["bench", "weights", str(run), "--thresholds", "1e-9"]) == 0
    assert "| icct-l1-sparse | 1 | 4 | 16 | 16 |" in capsys.readouterr().out


def test_the_toy_is_what_it_says() -> None:
    import torch

    states = torch.tensor([[-1.0, -0.5, 0, 0], [-1.0, 0, 0, 0], [1.0, 0, 0, 0], [1.0, 0.5, 0, 0]])
    assert best_actions(states)[:, 0].tolist() == pytest.approx([-0.8, 0.2, 0.8, -0.2])
    assert reward(states, best_actions(states)).tolist() == [1, 1, 1, 1]
    drawn = 2 * torch.rand(200_000, 4, generator=torch.Generator().manual_seed(0)) - 1
    best = best_actions(drawn)
    assert reward(drawn, best.mean()).mean().item() == pytest.approx(best_of_one_leaf(), abs=0.01)
    assert toy_config((0,), 100).shape.leaves >= 16


def test_an_unfinished_run_is_named(tmp_path: Path) -> None:
    run = run_folder(tmp_path, "icct-static")
    (run / "policies" / "seed-1.final.json").unlink()
    with pytest.raises(ConfigError, match="no final policy of icct-static seed 1"):
        weigh_run(run, [0.1])
