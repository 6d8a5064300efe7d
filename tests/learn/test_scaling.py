"""Scaling inside training: folded back exactly into thresholds, to rounding into weights."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from icct import Policy, Provenance
from icct.errors import ConfigError
from icct.evaluate import evaluate
from icct.learn import make_config, resume, train
from icct.learn.build import make_actor
from icct.learn.group import Group
from icct.learn.scaling import Scaling, start_thresholds
from icct.learn.snapshot import snapshot

QUICK = {"steps": 260, "learning_starts": 200, "batch_size": 16, "critic_hidden": (8,)}


def scaled(members: int, features: int, seed: int = 0) -> Scaling:
    """Return a scaling by observations of very different sizes, one of them constant."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-3, 3, features)
    seen = rng.normal(5 * sizes, sizes, (members, 500, features)).astype(np.float32)
    seen[..., 0] = 7.0
    scaling = Scaling(members, features)
    scaling.fit(torch.from_numpy(seen))
    return scaling


def test_gains_are_powers_of_two_and_what_never_moves_is_left_alone() -> None:
    scaling = scaled(2, 5)
    assert torch.equal(torch.log2(scaling.gain).frac(), torch.zeros(2, 5))
    assert scaling.shift[:, 0].tolist() == [0, 0]
    assert scaling.gain[:, 0].tolist() == [1, 1]
    fresh = Scaling(2, 5)
    table = torch.randn(2, 9, 5)
    assert torch.equal(fresh(table), table)


@pytest.mark.parametrize("method", ["icct-static", "icct-1-feature", "icct-complete"])
def test_a_policy_behind_a_scaling_takes_raw_observations(method: str) -> None:
    """The same leaf at and beside every threshold, for float32; the action to rounding."""
    config = make_config("lane-keeping", method, recipe="generic", seeds=(1, 2), leaves=16)
    module, scaling = make_actor(config), scaled(2, 12)
    raw = np.random.default_rng(1).normal(size=(2000, 12)).astype(np.float32) * 100
    with torch.no_grad():
        start_thresholds(module, scaling(torch.from_numpy(raw).expand(2, -1, -1)))
    policy = snapshot(module, config, 1, Provenance(), scaling)
    assert isinstance(policy, Policy)
    rng = np.random.default_rng(2)
    for index in policy.splits:
        split = policy.split(index)
        at = np.float32(split.threshold)
        near = [at, np.nextafter(at, np.float32(np.inf)), np.nextafter(at, np.float32(-np.inf))]
        chosen = rng.random(len(raw)) < 0.3
        raw[chosen, split.feature] = rng.choice(near, size=chosen.sum())
    with torch.no_grad():
        seen = scaling(torch.from_numpy(raw).expand(2, -1, -1))
        leaf = module.leaf_routing(seen)[1].argmax(-1).numpy()
        mean = module(seen)[0][1].double().numpy()
    kept = np.array([policy.leaf(index).log_std for index in policy.leaves_of(raw)])
    assert np.array_equal(kept, module.log_std[1].detach().double().numpy()[leaf])
    assert np.allclose(policy.act_batch(raw), np.tanh(mean), atol=1e-4)


@pytest.mark.parametrize("method", ["mlp-lower", "cddt", "cddt-controllers"])
def test_other_actors_take_raw_observations_too(method: str) -> None:
    config = make_config("lane-keeping", method, recipe="generic", seeds=(1, 2))
    module, scaling = make_actor(config), scaled(2, 12)
    actor = snapshot(module, config, 1, Provenance(), scaling)
    raw = np.random.default_rng(1).normal(size=(50, 12)).astype(np.float32)
    with torch.no_grad():
        mean = module(scaling(torch.from_numpy(raw).expand(2, -1, -1)))[0][1].double().numpy()
    acted = np.stack([actor.act(row) for row in raw])
    assert np.allclose(acted, np.tanh(mean), atol=1e-3)


def test_every_leaf_is_reached_at_the_start() -> None:
    """Also where a feature is nearly always the same, or at its largest value."""
    config = make_config("inverted-pendulum", "icct-static", recipe="generic", leaves=4)
    rng = np.random.default_rng(0)
    for seed in range(20):
        module = make_actor(replace(config, seeds=(seed,)))
        table = rng.normal(size=(1, 4000, 4)).astype(np.float32)
        table[..., 0] = np.maximum(table[..., 0], 1.0)  # mostly 1
        table[..., 1] = np.minimum(table[..., 1], -0.5)  # at its largest in most rows
        start_thresholds(module, torch.from_numpy(table))
        reached = module.leaf_routing(torch.from_numpy(table)).sum(1)
        assert (reached > 0).all()


def test_a_normalised_run_stops_and_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    config = make_config("Pendulum-v1", "icct-2-feature", seeds=(0, 3), **QUICK)
    straight = train(config, tmp_path / "straight", device="cpu")
    other = tmp_path / "stopped"

    with pytest.MonkeyPatch.context() as patch:
        step = Group.learn

        def stopping(self: Group, number: int) -> None:
            step(self, number)
            if number == 230:
                os.kill(os.getpid(), signal.SIGINT)

        patch.setattr(Group, "learn", stopping)
        assert not train(config, other, device="cpu").finished
    again = resume(other, device="cpu")
    assert again.finished
    for member in (0, 1):
        ours, theirs = (run.policy(0, member, "final") for run in (again, straight))
        assert ours.nodes == theirs.nodes
    alone = train(replace(config, seeds=(3,)), tmp_path / "alone", device="cpu")
    difference = np.abs(
        alone.policy(kind="final").act_batch(np.ones((1, 3)))
        - straight.policy(0, 1, "final").act_batch(np.ones((1, 3)))
    )
    assert difference.max() < 1e-4
    result = evaluate(straight.policy(), "Pendulum-v1", episodes=1)
    assert result.observations_outside == 0


def test_random_actions_are_held(tmp_path: Path) -> None:
    config = make_config("Pendulum-v1", "icct-static", random_hold=5, **QUICK)
    group = Group(config, torch.device("cpu"), compile_update=False)
    seen = torch.zeros(1, 3)
    drawn = [float(group.choose(seen, torch.tensor(step))[0, 0]) for step in range(20)]
    assert len(set(drawn)) == 4
    assert all(len(set(drawn[start : start + 5])) == 1 for start in range(0, 20, 5))


def test_what_cannot_be_scaled_is_refused() -> None:
    with pytest.raises(ConfigError, match="keeps raw observations"):
        make_config("lunar-lander", "icct-2-feature-gumbel", normalise=True)
    with pytest.raises(ConfigError, match="takes raw observations"):
        make_config(
            "lunar-lander", normalise=True, init=("zoo:lunar-lander/icct-2-feature",), leaves=8
        )
    with pytest.raises(ConfigError, match="learning_starts is 10"):
        make_config("lunar-lander", normalise=True, learning_starts=10)


def test_scaled_features_are_of_about_the_same_size() -> None:
    sizes = torch.tensor([1e-3, 0.3, 40.0, 1e3])
    drawn = torch.randn(2, 500, 4, generator=torch.Generator().manual_seed(0))
    scaling = Scaling(2, 4)
    scaling.fit(5 * sizes + sizes * drawn)
    seen = scaling(5 * sizes + sizes * drawn)
    assert seen.mean(1).abs().max() < 1e-3
    assert ((seen.std(1) > 0.7) & (seen.std(1) < 1.42)).all()  # gains are powers of two
