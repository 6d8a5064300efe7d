"""Baselines act with numpy as their modules do with torch, and their files trust nothing."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from icct.baselines import (
    FuzzyTreeActor,
    NoisyTreeActor,
    PerceptronActor,
    read_actor,
    write_actor,
)
from icct.cli.main import main
from icct.envs.find import find_task
from icct.errors import IcctError, ObservationError, PolicyError
from icct.learn.build import make_actor
from icct.learn.config import make_config
from icct.learn.posthoc import crisp_policy
from icct.learn.snapshot import snapshot
from icct.policy import Provenance

TASK = find_task("lunar-lander")


def actor_of(method: str) -> PerceptronActor | FuzzyTreeActor | NoisyTreeActor:
    config = make_config("lunar-lander", method, seeds=(3, 4))
    actor = snapshot(make_actor(config), config, 1, Provenance())
    assert isinstance(actor, PerceptronActor | FuzzyTreeActor | NoisyTreeActor)
    return actor


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("mlp-max", 68610), ("mlp-lower", 110), ("cddt", 86), ("cddt-controllers", 214)],
)
def test_an_actor_acts_as_its_module(method: str, parameters: int, tmp_path: Path) -> None:
    config = make_config("lunar-lander", method, seeds=(3, 4))
    module, actor = make_actor(config), actor_of(method)
    observations = torch.randn(2, 50, 8)
    with torch.no_grad():
        expected = torch.tanh(module(observations)[0])[1].numpy()
    acted = np.array([actor.act(row) for row in observations[1].numpy()])
    assert np.allclose(acted, expected, atol=1e-5)
    assert actor.parameter_count == parameters  # the paper's Table 1
    write_actor(actor, tmp_path / "actor.safetensors")
    again = read_actor(tmp_path / "actor.safetensors")
    assert type(again) is type(actor)
    assert again.features == TASK.features
    assert np.array_equal(again.act(observations[1, 0].numpy()), acted[0])


@pytest.mark.parametrize("method", ["icct-1-feature-gumbel", "icct-complete-gumbel"])
def test_a_noisy_tree_chooses_as_often_as_its_module(method: str, tmp_path: Path) -> None:
    config = make_config("inverted-pendulum", method, seeds=(5,), leaves=4)
    module = make_actor(config)
    actor = snapshot(module, config, 0, Provenance())
    assert isinstance(actor, NoisyTreeActor)
    observation = np.array([0.3, -0.1, 0.8, -1.2], np.float32)
    torch.manual_seed(0)
    with torch.no_grad():
        drawn = [module(torch.from_numpy(observation).reshape(1, 1, 4))[0] for _ in range(500)]
    ours = 3 * np.tanh(torch.cat(drawn).double().numpy().ravel())
    write_actor(actor, tmp_path / "noisy.safetensors")
    again = read_actor(tmp_path / "noisy.safetensors")
    assert isinstance(again, NoisyTreeActor)
    acted = np.array([again.act(observation)[0] for _ in range(500)])
    assert len(np.unique(acted.round(4))) > 3  # noise in the choices
    assert acted.mean() == pytest.approx(ours.mean(), abs=4 * ours.std() / 500**0.5)
    assert acted.std() == pytest.approx(ours.std(), rel=0.2)
    again.begin(7)
    first = [again.act(observation)[0] for _ in range(20)]
    again.begin(7)
    assert [again.act(observation)[0] for _ in range(20)] == first


def test_a_crisp_policy_of_a_noisy_tree_is_the_module_without_noise() -> None:
    config = make_config("lunar-lander", "icct-2-feature-gumbel", seeds=(5,))
    module = make_actor(config).eval()
    actor = snapshot(module, config, 0, Provenance())
    assert isinstance(actor, NoisyTreeActor)
    policy = crisp_policy(actor)
    observations = torch.randn(1, 100, 8)
    with torch.no_grad():
        expected = torch.tanh(module(observations)[0])[0].numpy()
    assert np.allclose(policy.act_batch(observations[0].numpy()), expected, atol=1e-5)
    assert "made crisp after training" in policy.provenance.history[-1]


def test_evaluate_takes_an_actor_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "actor.safetensors")
    write_actor(actor_of("mlp-lower"), path)
    assert main(["evaluate", path, "--task", "lunar-lander", "--episodes", "2"]) == 0
    assert "return" in capsys.readouterr().out
    assert main(["evaluate", path, "--task", "inverted-pendulum", "--episodes", "2"]) == 2
    assert "does not fit task inverted-pendulum" in capsys.readouterr().err


def test_bad_observations_are_refused() -> None:
    for observation in ([0.0] * 7, [float("nan")] * 8):
        with pytest.raises(ObservationError):
            actor_of("cddt").act(observation)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "actor.safetensors"
    with pytest.raises(PolicyError, match="No such file"):
        read_actor(path)
    path.write_bytes(b"not a safetensors file")
    with pytest.raises(PolicyError, match="not a file of an icct actor"):
        read_actor(path)
    save_file({"x": np.zeros(3, np.float32)}, path)
    with pytest.raises(PolicyError, match="not a file of an icct actor"):
        read_actor(path)
    for method in ("mlp-lower", "cddt", "icct-2-feature-gumbel"):
        actor = actor_of(method)
        for key in actor.tensors:
            for wrong in (np.zeros((2, 3), np.float32), np.full(1, np.nan, np.float32)):
                changed = type(actor).__new__(type(actor))
                changed.__dict__ = {**actor.__dict__, "tensors": {**actor.tensors, key: wrong}}
                write_actor(changed, path)
                with pytest.raises(IcctError):
                    read_actor(path)
