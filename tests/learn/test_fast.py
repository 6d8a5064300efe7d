"""What makes an update fast changes nothing else: written-out gradients, Adam, compilation."""

import shutil

import pytest
import torch

from icct.learn.build import UPDATE_RULES, make_actor, make_critics
from icct.learn.config import make_config
from icct.learn.fast import FastCritics, compiled
from icct.learn.group import Group
from icct.learn.networks import TwinCritics
from icct.learn.optimiser import Adam, _move, follow
from tests.learn.test_sac import ACTIONS, FEATURES, ROWS, perceptrons, random_batch, random_noise

CPU = torch.device("cpu")
SIZES = ((24, 12), FEATURES, ACTIONS)


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
@pytest.mark.parametrize("method", ["icct-2-feature", "icct-l1-sparse", "cddt", "mlp-lower"])
def test_a_fast_update_is_the_plain_one(method: str, algorithm: str) -> None:
    """Several updates of two members: the same losses, actors, critics and targets."""
    sizes = {"critic_hidden": (24, 12), "batch_size": ROWS, "actor_lr": 1e-3, "critic_lr": 1e-3}
    config = make_config(
        "lunar-lander", method, algorithm=algorithm, seeds=(0, 1), tau=(0.1, 0.2), **sizes
    )
    rule = UPDATE_RULES[algorithm]
    plain = rule(config, make_actor(config), TwinCritics(*SIZES, config.seeds))
    fast = rule(config, make_actor(config), make_critics(config))
    assert isinstance(fast.critics, FastCritics)
    for step in range(4):
        batch, noise = random_batch(2, seed=step), random_noise(plain, seed=step)
        ours, theirs = (
            one.update(batch, *noise, move_actor=step % 2 == 1) for one in (fast, plain)
        )
        for one, other in zip(ours, theirs, strict=True):
            assert torch.allclose(one, other, atol=1e-5)
    expected = plain.state()
    for name, tensor in fast.state().items():
        # A gradient near zero moves a parameter by its sign alone, in Adam's first steps.
        assert torch.allclose(tensor, expected[name], atol=2e-4), name


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_critics_gradients_are_autograds(precision: str) -> None:
    plain, fast = TwinCritics(*SIZES, (0, 1, 2)), FastCritics(*SIZES, (0, 1, 2))
    fast.hidden_dtype = getattr(torch, precision)
    batch = random_batch(3)
    slopes = torch.randn(3, 2, ROWS, generator=torch.Generator().manual_seed(1))
    near = {"atol": 1e-5} if precision == "float32" else {"atol": 0.3, "rtol": 0.05}
    found = []
    for critics in (plain, fast):
        actions = batch.actions.clone().requires_grad_()
        values = critics(batch.observations, actions)
        wanted = [actions, *critics.layers]
        of_actions = critics.of_actions(batch.observations, actions)
        assert torch.equal(of_actions, values)
        found.append(
            [
                values,
                *torch.autograd.grad((values * slopes).sum(), wanted),
                *torch.autograd.grad(of_actions.amin(1).sum(), actions, retain_graph=True),
                *torch.autograd.grad(of_actions[:, 0].sum(), actions),
                *critics.errors(batch.observations, batch.actions, batch.rewards, 0.5)[1],
            ]
        )
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, **near)


def test_critics_in_bfloat16_learn_nearly_the_same() -> None:
    losses = []
    for precision in ("float32", "bfloat16"):
        config = perceptrons(seeds=(0, 1), critic_precision=precision)
        ours = UPDATE_RULES["sac"](config, make_actor(config), make_critics(config))
        for _ in range(5):
            found = ours.update(random_batch(2), *random_noise(ours), move_actor=True)
        assert all(layer.dtype == torch.float32 for layer in ours.critics.layers)
        losses.append(torch.stack((found.critic, found.actor)))
    assert not torch.equal(*losses)  # else bfloat16 was not used
    assert torch.allclose(*losses, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("rates", [(1e-3, 1e-3, 1e-3), (1e-3, 3e-4, 1e-2)])
@pytest.mark.parametrize("share", [None, 0.25])
def test_every_member_has_torchs_adam(rates: tuple[float, ...], share: float | None) -> None:
    shapes = ((3, 5, 4), (3, 7))
    g = torch.Generator().manual_seed(0)
    starts = [torch.randn(shape, generator=g) for shape in shapes]
    ours = [start.clone().requires_grad_() for start in starts]
    adam = Adam(ours, rates, falling=share is not None)
    left = 1.0 if share is None else share
    if share is not None:
        adam.set_share(torch.tensor(share, dtype=torch.float64))
    theirs = [[start[m].clone().requires_grad_() for start in starts] for m in range(3)]
    optimisers = [torch.optim.Adam(own, lr=left * r) for own, r in zip(theirs, rates, strict=True)]
    for _ in range(3):
        adam.step(adam.gradients(sum((p**2).flatten(1).sum(1) for p in ours)))
        for own, optimiser in zip(theirs, optimisers, strict=True):
            optimiser.zero_grad()
            sum((p**2).sum() for p in own).backward()
            optimiser.step()
    for index, parameter in enumerate(ours):
        for member in range(3):
            assert torch.allclose(parameter[member], theirs[member][index], atol=1e-6)


@pytest.mark.parametrize("tau", [(0.1, 0.1), (0.1, 0.7)])
def test_targets_follow_by_a_share(tau: tuple[float, ...]) -> None:
    targets, sources = [torch.zeros(2, 3)], [torch.ones(2, 3)]
    follow(targets, sources, tau)
    assert torch.allclose(targets[0], torch.tensor(tau).unsqueeze(1).expand(2, 3))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("rate", [1e-3, torch.tensor(1e-3)])
def test_a_compiled_step_of_adam_is_the_fused_one(rate: float | torch.Tensor) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    ends = []
    for move in (_move, compiled(_move)):
        g = torch.Generator().manual_seed(0)
        parameters = [torch.randn(shape, generator=g) for shape in ((3, 5, 4), (3, 7))]
        means, squares = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
        counts = [torch.zeros(()) for _ in parameters]
        for _ in range(5):
            gradients = [torch.randn(p.shape, generator=g) for p in parameters]
            move(parameters, gradients, means, squares, counts, rate)
        ends.append([*parameters, *means, *squares, *counts])
    for one, other in zip(*ends, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's compiler calls its own past
@pytest.mark.parametrize("algorithm", ["sac", "td3"])
@pytest.mark.parametrize("method", ["icct-2-feature", "mlp-upper"])
def test_compiled_updates_equal_eager_ones(method: str, algorithm: str) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    sizes = {"batch_size": ROWS, "critic_hidden": (32, 32), "buffer_size": 500, "seeds": (0, 1)}
    config = make_config("lunar-lander", method, algorithm=algorithm, **sizes)
    groups = [Group(config, CPU, compiled) for compiled in (False, True)]
    for group in groups:
        group.replay.rows.normal_(generator=torch.Generator().manual_seed(0))
        group.replay.stored += 500
        for step in range(6):
            group.step.fill_(step)
            group.learn(step)
    eager, compiled = (group.learner.state() for group in groups)
    for key, tensor in eager.items():
        assert torch.allclose(tensor, compiled[key], atol=1e-5, rtol=1e-4), key
