"""Learning rates that fall over a run, and actors evaluated as the average of their weights."""

import csv
import signal
from pathlib import Path

import pytest
import torch
from torch import Tensor

from icct.errors import ConfigError
from icct.learn.config import TrainConfig, make_config
from icct.learn.deepen import places
from icct.learn.freeze import freeze
from icct.learn.group import Group
from icct.learn.run import Run
from icct.learn.snapshot import make_actor
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


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_the_written_policy_is_the_average(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(algorithm=algorithm, averaging=0.9, actor_lr=1e-2)
    start = torch.cat([part.detach().flatten() for part in make_actor(config).parameters()])
    averages, latest = [start.double()], [start]
    learn = Group.learn

    def learn_and_average(group: Group, step: int) -> None:
        learn(group, step)
        flat = group.learner.actor_adam.flat
        if not torch.equal(flat, latest[-1]):  # td3 moves its actor every second time
            latest.append(flat.clone())
            averages.append(0.9 * averages[-1] + 0.1 * flat.double())

    monkeypatch.setattr(Group, "learn", learn_and_average)
    written = train(config, tmp_path / "run").policy(kind="final")
    assert len(latest) > 50
    module, by_hand = make_actor(config), averages[-1].float()
    torch.nn.utils.vector_to_parameters(by_hand, module.parameters())
    expected = freeze(module, config.task.features, config.task.actions)
    torch.nn.utils.vector_to_parameters(latest[-1], module.parameters())
    unlike = freeze(module, config.task.features, config.task.actions)
    draws = torch.Generator().manual_seed(1)
    seen = torch.rand(50, 4, generator=draws).double().numpy() - 0.5
    for observation in seen:
        assert written.act(observation) == pytest.approx(expected.act(observation), abs=1e-4)
    assert any(abs(written.act(o) - unlike.act(o)) > 1e-2 for o in seen)


def episodes(run: Run) -> list[list[str]]:
    with (run.folder / "metrics.csv").open() as file:
        return [row for row in csv.reader(file) if row[3] == "episode_return"]


def test_what_acts_and_learns_is_not_averaged(tmp_path: Path) -> None:
    plain = train(small(), tmp_path / "plain")
    averaged = train(small(averaging=0.99), tmp_path / "averaged")
    assert episodes(plain) == episodes(averaged)
    assert plain.policy(kind="final") != averaged.policy(kind="final")


def test_a_resumed_run_has_its_average_and_its_learning_rates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(final_lr=0.1, averaging=0.99)
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


def test_an_average_begins_with_the_thresholds_that_scaling_sets() -> None:
    group = filled(small(averaging=0.99, normalise=True, learning_starts=150))
    group.fit_scaling()
    group.refresh_twin()
    for ours, theirs in zip(group.twin.parameters(), group.learner.actor.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_new_leaves_of_a_growing_tree_have_no_past_to_average() -> None:
    config = small(method="icct-static", averaging=0.9, grow=True, leaves=2, max_leaves=4)
    learner = filled(config).learner
    learner.average.zero_()  # unlike the actor everywhere
    learner.deepening._take(learner, member=0, position=1)
    new = places(learner.actor, learner.average, 0, 1)
    actor = places(learner.actor, learner.actor_adam.flat, 0, 1)
    assert all(torch.equal(one, other) for one, other in zip(new, actor, strict=True))
    assert learner.average.count_nonzero() == sum(int(part.count_nonzero()) for part in new)


def test_an_average_that_never_moves_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"averaging is 1\.0, expected 0 to 0\.999999"):
        small(averaging=1.0)
