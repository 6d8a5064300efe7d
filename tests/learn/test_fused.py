"""Critics in one kernel a pass are the plain ones; without a GPU, Triton interprets the kernels."""

from importlib.util import find_spec

import pytest
import torch

from icct.learn.build import UPDATE_RULES, make_actor
from icct.learn.config import make_config
from icct.learn.networks import TwinCritics
from tests.learn.test_sac import ACTIONS, FEATURES, ROWS, random_batch, random_noise

pytestmark = [
    pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU does what test_cuda.py compares"),
]
if find_spec("triton") is not None:
    from icct.learn.fused import FusedCritics


@pytest.mark.parametrize(
    ("hidden", "features", "actions", "batch", "members"),
    [(32, 5, 2, 100, 2), (64, 8, 2, 64, 3), (16, 28, 1, 130, 1)],
)
def test_passes_are_autograds(
    hidden: int, features: int, actions: int, batch: int, members: int
) -> None:
    """Values, derivatives in actions and weights; blocks of a batch that are full or not."""
    shape = ((hidden, hidden), features, actions, range(members))
    plain, fused = TwinCritics(*shape), FusedCritics(*shape)
    g = torch.Generator().manual_seed(0)
    observations = torch.randn(members, batch, features, generator=g)
    action = torch.randn(members, batch, actions, generator=g)
    targets = torch.randn(members, batch, generator=g)
    found = []
    for critics in (plain, fused):
        moved = action.clone().requires_grad_()
        values = critics.of_actions(observations, moved)
        loss, gradients = critics.errors(observations, action, targets, 0.5)
        found.append(
            [
                values,
                critics(observations, action),
                *torch.autograd.grad(values.amin(1).sum(), moved),
                loss,
                *gradients,
            ]
        )
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape
        assert torch.allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_updates_are_the_plain_ones(algorithm: str) -> None:
    config = make_config(
        "lunar-lander", "icct-2-feature", algorithm=algorithm, seeds=(0, 1), batch_size=ROWS
    )
    shape = ((16, 16), FEATURES, ACTIONS, config.seeds)
    rule = UPDATE_RULES[algorithm]
    plain, fused = (
        rule(config, make_actor(config), kind(*shape)) for kind in (TwinCritics, FusedCritics)
    )
    for step in range(4):
        batch, noise = random_batch(2, seed=step), random_noise(plain, seed=step)
        for one in (plain, fused):
            one.update(batch, *noise, move_actor=True)
    expected = plain.state()
    for name, tensor in fused.state().items():
        assert torch.allclose(tensor, expected[name], atol=1e-5), name
