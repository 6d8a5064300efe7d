"""The trainer learns: a toy problem, solved in seconds by every member of a population."""

import csv
from pathlib import Path

import pytest

from icct.learn import make_config, train

SOLVED = -5.0
TOY = f"{Path(__file__).with_name('go_to_target.py')}:GoToTarget"
QUICK = {"learning_starts": 200, "random_hold": 1, "batch_size": 64, "critic_hidden": (32, 32)}
RATES = {"actor_lr": 1e-2, "critic_lr": 1e-2, "entropy_lr": 1e-2, "gamma": 0.8, "tau": 0.05}


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_a_tree_learns_to_go_to_the_target(algorithm: str, tmp_path: Path) -> None:
    """Standing still scores -13, and running away, as swapped observations teach, -20.

    The run ends when both members have learned, by `stop_score`, and not by its number of steps.
    """
    config = make_config(
        TOY,
        "icct-2-feature",
        algorithm=algorithm,
        leaves=2,
        seeds=(0, 1),
        steps=3000,
        stop_score=SOLVED,
        evaluate_every=200,
        evaluate_episodes=20,
        **QUICK,
        **RATES,
    )
    run = train(config, tmp_path / "run", device="cpu")
    assert run.finished
    assert "every member has reached its stop_score" in (run.folder / "log.txt").read_text()
    assert all(member.best_score >= SOLVED for member in run.members)
    with (run.folder / "metrics.csv").open() as file:
        scores = [row for row in csv.DictReader(file) if row["metric"] == "score"]
    before_learning = [float(row["value"]) for row in scores if row["step"] == "200"]
    assert len(before_learning) == 2
    assert max(before_learning) < SOLVED
