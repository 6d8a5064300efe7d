"""The trainer learns: a toy problem, solved in seconds, by every member of a population."""

from pathlib import Path

import pytest

from icct.learn import make_config, train

TOY = f"{Path(__file__).with_name('go_to_target.py')}:GoToTarget"
QUICK = {"learning_starts": 200, "random_hold": 1, "batch_size": 64, "critic_hidden": (32, 32)}
RATES = {"actor_lr": 1e-2, "critic_lr": 1e-2, "entropy_lr": 1e-2, "gamma": 0.8, "tau": 0.05}


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_a_tree_learns_to_go_to_the_target(algorithm: str, tmp_path: Path) -> None:
    """Standing still scores -13, and what swapped observations teach, to run away, -20."""
    config = make_config(
        TOY,
        "icct-2-feature",
        algorithm=algorithm,
        leaves=2,
        seeds=(0, 1),
        steps=1000,
        evaluate_every=1000,
        evaluate_episodes=30,
        **QUICK,
        **RATES,
    )
    run = train(config, tmp_path / "run", device="cpu")
    assert [member.last_score for member in run.members if member.last_score < -5] == []
