"""Our update against Stable-Baselines3's, and members against each other."""

import copy
import shutil

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import SAC, TD3

from icct.learn.adam import Adam, adam_step, flatten_parameters
from icct.learn.config import TrainConfig, make_config
from icct.learn.group import UPDATE_RULES, Group
from icct.learn.replay import Batch
from icct.learn.sac import Sac
from icct.learn.snapshot import make_actor, make_critics
from icct.learn.td3 import Td3

CPU = torch.device("cpu")
FEATURES, ACTIONS, ROWS = 8, 2, 64


class Still(gym.Env):
    """An environment of the right shape, for constructing Stable-Baselines3's learners."""

    observation_space = gym.spaces.Box(-1, 1, (FEATURES,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (ACTIONS,), np.float32)

    def reset(self, **_: object) -> tuple[np.ndarray, dict[str, object]]:
        return np.zeros(FEATURES, np.float32), {}


def random_batch(members: int, seed: int = 0) -> Batch:
    g = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=g)  # noqa: E731
    return Batch(
        draw(members, ROWS, FEATURES),
        draw(members, ROWS, FEATURES),
        torch.tanh(draw(members, ROWS, ACTIONS)),
        draw(members, ROWS),
        (torch.rand(members, ROWS, generator=g) < 0.2).float(),
    )


def perceptrons(**changes: object) -> TrainConfig:
    return make_config(
        "lunar-lander",
        "mlp-max",
        hidden=(32, 16),
        critic_hidden=(24, 12),
        batch_size=ROWS,
        **changes,
    )


def learner(config: TrainConfig) -> Sac | Td3:
    rule = UPDATE_RULES[config.algorithm]
    return rule(config, make_actor(config), make_critics(config), CPU)


def copy_layers(layers: list[torch.Tensor], networks: list[torch.nn.Module]) -> None:
    """Copy a member's layers into torch.nn.Linear modules, in order."""
    linears = [m for network in networks for m in network.modules() if hasattr(m, "in_features")]
    with torch.no_grad():
        for linear, weight, bias in zip(linears, layers[::2], layers[1::2], strict=True):
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias.reshape(-1))


def their_batch(batch: Batch) -> object:
    from stable_baselines3.common.type_aliases import ReplayBufferSamples

    return ReplayBufferSamples(
        batch.observations[0],
        batch.actions[0],
        batch.next_observations[0],
        batch.dones[0].unsqueeze(-1),
        batch.rewards[0].unsqueeze(-1),
    )


def our_layers(ours: Sac | Td3) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Return the actor's and both critics' layers of member 0, in the order of SB3's modules."""
    actor = [layer[0].detach() for layer in ours.actor.layers]
    weight, bias = actor[-2:]
    heads = [weight[:, :ACTIONS], bias[:, :ACTIONS], weight[:, ACTIONS:], bias[:, ACTIONS:]]
    critics = [layer[0, k].detach() for k in range(2) for layer in ours.critics.layers]
    return [*actor[:-2], *heads], critics


def flat_of(networks: list[torch.nn.Module]) -> torch.Tensor:
    linears = [m for network in networks for m in network.modules() if hasattr(m, "in_features")]
    return torch.cat([part for m in linears for part in (m.weight.T.flatten(), m.bias.flatten())])


def assert_same(layers: list[torch.Tensor], networks: list[torch.nn.Module]) -> None:
    ours = torch.cat([layer.flatten() for layer in layers])
    assert torch.allclose(ours, flat_of(networks), atol=1e-5, rtol=1e-5)


def test_a_sac_update_is_stable_baselines3s(monkeypatch: pytest.MonkeyPatch) -> None:
    config = perceptrons(actor_lr=1e-3, critic_lr=1e-3, entropy_lr=1e-3, tau=0.05)
    ours = learner(config)
    net_arch = {"pi": [32, 16], "qf": [24, 12]}
    theirs = SAC(
        "MlpPolicy", Still(), learning_rate=1e-3, tau=0.05, policy_kwargs={"net_arch": net_arch}
    )
    theirs._setup_learn(10)
    actor_layers, critic_layers = our_layers(ours)
    actor = [theirs.actor.latent_pi, theirs.actor.mu, theirs.actor.log_std]
    copy_layers(actor_layers, actor)
    copy_layers(critic_layers, [theirs.critic])
    copy_layers(critic_layers, [theirs.critic_target])
    noise = torch.randn(6, 1, ROWS, ACTIONS, generator=torch.Generator().manual_seed(1))
    draws = iter(noise[:, 0])
    normal = torch.distributions.Normal
    monkeypatch.setattr(normal, "rsample", lambda self: self.mean + self.stddev * next(draws))
    for round_ in range(3):  # Adam's memory and the target's lag show from the second on
        batch = random_batch(1, seed=round_)
        monkeypatch.setattr(theirs.replay_buffer, "sample", lambda *a, b=batch, **k: their_batch(b))
        theirs.train(gradient_steps=1, batch_size=ROWS)
        losses = ours.update(batch, noise[2 * round_], noise[2 * round_ + 1])
        logged = theirs.logger.name_to_value
        assert losses.critic.item() == pytest.approx(logged["train/critic_loss"], rel=1e-5)
        assert losses.actor.item() == pytest.approx(logged["train/actor_loss"], rel=1e-5)
        assert losses.entropy.item() == pytest.approx(logged["train/ent_coef"], rel=1e-5)
        actor_layers, critic_layers = our_layers(ours)
        assert_same(actor_layers, actor)
        assert_same(critic_layers, [theirs.critic])
        targets = [layer[0, k] for k in range(2) for layer in ours.targets.layers]
        assert_same(targets, [theirs.critic_target])
        assert torch.allclose(ours.log_entropy, theirs.log_ent_coef.detach(), atol=1e-6)


def test_a_td3_update_is_stable_baselines3s(monkeypatch: pytest.MonkeyPatch) -> None:
    config = perceptrons(algorithm="td3", actor_lr=1e-3, critic_lr=1e-3, tau=0.05)
    ours = learner(config)
    net_arch = {"pi": [32, 16], "qf": [24, 12]}
    theirs = TD3(
        "MlpPolicy", Still(), learning_rate=1e-3, tau=0.05, policy_kwargs={"net_arch": net_arch}
    )
    theirs._setup_learn(10)

    def mean_layers(module: torch.nn.Module) -> list[torch.Tensor]:
        layers = [layer[0].detach() for layer in module.layers]
        return [*layers[:-2], layers[-2][:, :ACTIONS], layers[-1][:, :ACTIONS]]

    for mine, network in ((ours.actor, theirs.actor), (ours.actor, theirs.actor_target)):
        copy_layers(mean_layers(mine), [network])
    critics = [layer[0, k].detach() for k in range(2) for layer in ours.critics.layers]
    for network in (theirs.critic, theirs.critic_target):
        copy_layers(critics, [network])
    noise = torch.randn(4, 1, ROWS, ACTIONS, generator=torch.Generator().manual_seed(1))
    draws = iter(noise[:, 0] * 0.2)
    monkeypatch.setattr(torch.Tensor, "normal_", lambda self, *a: self.copy_(next(draws)))
    for round_ in range(4):
        batch = random_batch(1, seed=round_)
        monkeypatch.setattr(theirs.replay_buffer, "sample", lambda *a, b=batch, **k: their_batch(b))
        theirs.train(gradient_steps=1, batch_size=ROWS)
        ours.update(batch, noise[round_], phase=round_ % 2)
        assert_same(mean_layers(ours.actor), [theirs.actor])
        assert_same(mean_layers(ours.target_actor), [theirs.actor_target])
        critics = [layer[0, k] for k in range(2) for layer in ours.critics.layers]
        assert_same(critics, [theirs.critic])
        critics = [layer[0, k] for k in range(2) for layer in ours.target_critics.layers]
        assert_same(critics, [theirs.critic_target])


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
@pytest.mark.parametrize("method", ["icct-2-feature", "icct-l1-sparse", "cddt", "mlp-lower"])
def test_members_do_not_influence_each_other(method: str, algorithm: str) -> None:
    """Member 2 of 4, with hyperparameters of its own, equals the same member alone."""
    own = {
        "actor_lr": (1e-3, 2e-3, 3e-3, 4e-3),
        "critic_lr": (4e-3, 3e-3, 2e-3, 1e-3),
        "gamma": (0.9, 0.95, 0.97, 0.99),
        "tau": (0.1, 0.05, 0.02, 0.01),
        "target_entropy": (-1.0, -2.0, -3.0, -4.0),
        "temperature": (1.0, 0.5, 2.0, 0.1),
        "l1": (0.0, 0.1, 0.2, 0.3),
    }
    common = {"algorithm": algorithm, "critic_hidden": (16, 16), "batch_size": ROWS}
    many = learner(make_config("lunar-lander", method, seeds=(3, 4, 5, 6), **common, **own))
    alone_values = {key: values[2] for key, values in own.items()}
    alone = learner(make_config("lunar-lander", method, seeds=(5,), **common, **alone_values))
    for number in range(4):
        batch, step = random_batch(4, seed=number), torch.tensor(number)
        phase = number % many.phases
        many.update(batch, *many.draws(step)[1:], phase=phase)
        own_batch = Batch(*(part[2:3] for part in batch))
        alone.update(own_batch, *alone.draws(step)[1:], phase=phase)
        observation = batch.observations[:, 0]
        acted = many.act(observation, step)[2], alone.act(observation[2:3], step)[0]
        assert torch.allclose(*acted, atol=1e-6)
    for one, other in (
        *zip(many.actor.parameters(), alone.actor.parameters(), strict=True),
        *zip(many.critics.parameters(), alone.critics.parameters(), strict=True),
    ):
        assert torch.allclose(one[2], other[0], atol=1e-5)


def test_a_fixed_entropy_coefficient_stays() -> None:
    ours = learner(perceptrons(entropy=0.3))
    before = copy.deepcopy(ours.log_entropy)
    losses = ours.update(random_batch(1), *ours.draws(torch.tensor(0))[1:])
    assert losses.entropy.item() == pytest.approx(0.3)
    assert torch.equal(ours.log_entropy, before)


def test_critics_in_bfloat16_learn_nearly_the_same() -> None:
    losses = []
    for precision in ("float32", "bfloat16"):
        ours = learner(perceptrons(seeds=(0, 1), critic_precision=precision))
        noise = ours.draws(torch.tensor(0))[1:]
        for _ in range(5):
            found = ours.update(random_batch(2), *noise)
        assert ours.critic_adam.flat.dtype == torch.float32
        losses.append(torch.stack((found.critic, found.actor)))
    assert not torch.equal(*losses)  # else bfloat16 was not used
    assert torch.allclose(*losses, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_critics_gradients_are_autograds(precision: str) -> None:
    config = perceptrons(seeds=(0, 1, 2), critic_precision=precision)
    critics, batch = learner(config).critics, random_batch(3)
    slopes = torch.randn(3, 2, ROWS, generator=torch.Generator().manual_seed(1))
    layers = [layer.detach().clone().requires_grad_() for layer in critics.layers]
    actions = batch.actions.clone().requires_grad_()

    def values_by_autograd() -> torch.Tensor:
        values = torch.cat((batch.observations, actions), dim=-1).unsqueeze(1)
        for weight, bias in zip(layers[:-2:2], layers[1:-2:2], strict=True):
            values = torch.relu(values @ weight + bias)
        return (values @ layers[-2] + layers[-1]).squeeze(-1)

    near = {"atol": 1e-5} if precision == "float32" else {"atol": 0.3, "rtol": 0.05}
    expected = torch.autograd.grad((values_by_autograd() * slopes).sum(), layers)
    values, entered = critics.trace(batch.observations, batch.actions)
    assert torch.allclose(values, values_by_autograd(), **near)
    for ours, theirs in zip(critics.gradients(entered, slopes), expected, strict=True):
        assert torch.allclose(ours, theirs, **near)
    for kind, reduce in ((critics.lowest, lambda v: v.amin(1)), (critics.first, lambda v: v[:, 0])):
        (theirs,) = torch.autograd.grad(reduce(values_by_autograd()).sum(), actions)
        found = kind(batch.observations, actions)
        (ours,) = torch.autograd.grad(found.sum(), actions)
        assert torch.allclose(found, reduce(values_by_autograd()), **near)
        assert torch.allclose(ours, theirs, **near)


@pytest.mark.parametrize("rates", [(1e-3, 1e-3, 1e-3), (1e-3, 3e-4, 1e-2)])
@pytest.mark.parametrize("share", [None, 0.25])
def test_the_fused_step_of_adam_is_the_plain_one(
    rates: tuple[float, ...], share: float | None
) -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = ((3, 5, 4), (3, 7))
    draws = [[torch.randn(shape, generator=generator) for shape in shapes] for _ in range(3)]
    module = torch.nn.ParameterList([torch.zeros(shape) for shape in shapes])
    left = None if share is None else torch.tensor(share, dtype=torch.float64)
    adam = Adam(list(module), flatten_parameters(module), rates, left)
    plain = [torch.zeros_like(part) for part in (adam.flat, adam.mean, adam.square)]
    count = torch.zeros((), dtype=torch.float64)
    for gradients in draws:
        adam.step(gradients)
        adam_step(*plain, count, adam.rates(), *gradients)
    for one, other in zip((adam.flat, adam.mean, adam.square), plain, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    assert torch.equal(torch.cat([p.detach().flatten() for p in module]), adam.flat)


def test_actions_are_random_before_learning_starts() -> None:
    ours = learner(perceptrons(learning_starts=100))
    observation = torch.zeros(1, FEATURES)
    early = torch.stack([ours.act(observation, torch.tensor(i))[0] for i in range(100)])
    assert early.abs().max() <= 1
    assert early.std(0).min() > 0.4  # of an even distribution: 0.577


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
