"""Learning rates that fall over a run."""

import csv
import signal
from pathlib import Path

import pytest
import torch
from torch import Tensor

from icct.learn.config import TrainConfig, make_config
from icct.learn.group import Group
from icct.learn.run import Run
from icct.learn.train import resume, train

CPU = torch.device("cpu")
RATES = {"actor_lr": 3e-4, "critic_lr": 1e-3, "entropy_lr": 2e-4}


def small(**changes: object) -> TrainConfig:
    values = {"batch_size": 32, "critic_hidden": (16, 16), "learning_starts": 50, "steps": 200}
    values |= {"buffer_size": 1000, "evaluate_every": 100, "evaluate_episodes": 2, **changes}
    return make_config("inverted-pendulum", **{"method": "icct-complete", **values})  # type: ignore[arg-type]


def filled(config: TrainConfig) -> Group:
    """Return a group that has something to learn from."""
    group = Group(config, CPU, False)
    group.replay.rows.normal_(generator=torch.Generator().manual_seed(0))
    group.replay.rows[..., -1] = 0
    group.replay.stored += config.steps
    return group


def learned(step: int, **changes: object) -> dict[str, Tensor]:
    """Return the state after one update at a step."""
    group = filled(small(**RATES | changes))
    group.step.fill_(step)
    group.learn(step)
    return group.state()


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_the_learning_rates_fall_to_their_share(algorithm: str, seeds: tuple[int, ...]) -> None:
    several = {"actor_lr": (3e-4, 1e-4)[: len(seeds)]}  # two learning rates are two fused steps
    common = {"algorithm": algorithm, "seeds": seeds, "policy_delay": 1, **several}
    half = {name: rate / 2 for name, rate in RATES.items()}
    half |= {"actor_lr": tuple(rate / 2 for rate in several["actor_lr"])}
    constant = learned(200, **common)
    assert not same(constant, learned(200, **common, final_lr=0.5))
    assert same(learned(200, **common | half), learned(200, **common, final_lr=0.5))
    assert same(learned(100, **common | half), learned(100, **common, final_lr=0.0))
    assert same(learned(0, **common), learned(0, **common, final_lr=0.5))


def test_the_learning_rates_of_growing_trees_fall() -> None:
    growing = {"method": "icct-static", "grow": True, "leaves": 2, "max_leaves": 4}
    half = {name: rate / 2 for name, rate in RATES.items()}
    assert same(learned(200, **growing | half), learned(200, **growing, final_lr=0.5))


def episodes(run: Run) -> list[list[str]]:
    with (run.folder / "metrics.csv").open() as file:
        return [row for row in csv.reader(file) if row[3] == "episode_return"]


def test_a_resumed_run_has_the_learning_rates_of_its_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(final_lr=0.1)
    straight = train(config, tmp_path / "straight")
    learn = Group.learn

    def learn_and_stop(group: Group, step: int) -> None:
        learn(group, step)
        if step == 120:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Group, "learn", learn_and_stop)
    stopped = train(config, tmp_path / "stopped")
    assert not stopped.finished
    monkeypatch.undo()
    resumed = resume(stopped.folder)
    for kind in ("best", "final"):
        assert resumed.policy(kind=kind) == straight.policy(kind=kind)
    assert sorted(episodes(resumed)) == sorted(episodes(straight))
