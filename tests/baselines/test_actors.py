"""Baselines act with numpy as their modules do with torch, and their files trust nothing."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from icct.baselines import FuzzyTreeActor, PerceptronActor, read_actor, write_actor
from icct.cli.main import main
from icct.envs.catalog import find_task
from icct.errors import IcctError, ObservationError, PolicyError
from icct.learn.config import make_config
from icct.learn.snapshot import make_actor, snapshot
from icct.policy import Provenance

TASK = find_task("lunar-lander")


def actor_of(method: str) -> PerceptronActor | FuzzyTreeActor:
    config = make_config("lunar-lander", method, seeds=(3, 4))
    actor = snapshot(make_actor(config), config, 1, Provenance())
    assert isinstance(actor, PerceptronActor | FuzzyTreeActor)
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
    with pytest.raises(PolicyError, match="not a readable actor file"):
        read_actor(path)
    save_file({"x": np.zeros(3, np.float32)}, path)
    with pytest.raises(PolicyError, match="not a file of an icct actor"):
        read_actor(path)
    for method in ("mlp-lower", "cddt"):
        actor = actor_of(method)
        for key in actor.tensors:
            for wrong in (np.zeros((2, 3), np.float32), np.full(1, np.nan, np.float32)):
                changed = type(actor).__new__(type(actor))
                changed.__dict__ = {**actor.__dict__, "tensors": {**actor.tensors, key: wrong}}
                write_actor(changed, path)
                with pytest.raises(IcctError):
                    read_actor(path)
