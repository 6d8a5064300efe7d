"""Our update against Stable-Baselines3's, and members against each other."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import SAC, TD3

from icct.learn.build import UPDATE_RULES, make_actor
from icct.learn.config import TrainConfig, make_config
from icct.learn.group import Group
from icct.learn.networks import TwinCritics
from icct.learn.sac import Batch, Sac, squashed_sample
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


def random_noise(learner: Sac | Td3, seed: int = 0) -> list[torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    shape = (learner.config.members, ROWS, ACTIONS)
    return [torch.randn(shape, generator=g) for _ in range(learner.noises)]


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
    """Return the update rule in ordinary torch; test_fast.py compares the fast one with it."""
    sizes = len(config.task.features), len(config.task.actions)
    critics = TwinCritics(config.network.critic_hidden, *sizes, config.seeds)
    return UPDATE_RULES[config.algorithm](config, make_actor(config), critics)


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
        losses = ours.update(batch, *noise[2 * round_ : 2 * round_ + 2], move_actor=True)
        logged = theirs.logger.name_to_value
        assert losses.critic.item() == pytest.approx(logged["train/critic_loss"], rel=1e-5)
        assert losses.actor.item() == pytest.approx(logged["train/actor_loss"], rel=1e-5)
        assert losses.entropy.item() == pytest.approx(logged["train/ent_coef"], rel=1e-5)
        actor_layers, critic_layers = our_layers(ours)
        assert_same(actor_layers, actor)
        assert_same(critic_layers, [theirs.critic])
        targets = [layer[0, k] for k in range(2) for layer in ours.targets.layers]
        assert_same(targets, [theirs.critic_target])
        assert torch.allclose(ours.log_entropy.detach(), theirs.log_ent_coef.detach(), atol=1e-6)


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
        ours.update(batch, noise[round_], move_actor=ours.moves_actor(round_))
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
        batch, noise = random_batch(4, seed=number), random_noise(many, seed=number)
        many.update(batch, *noise, move_actor=number % 2 == 1)
        own_batch = Batch(*(part[2:3] for part in batch))
        alone.update(own_batch, *(part[2:3] for part in noise), move_actor=number % 2 == 1)
        acted = [
            one.explore(rows[:, 0], lot[:, 0])[-1 if one is alone else 2]
            for one, rows, lot in (
                (many, batch.observations, noise[0]),
                (alone, own_batch.observations, noise[0][2:3]),
            )
        ]
        assert torch.allclose(*acted, atol=1e-6)
    for one, other in (
        *zip(many.actor.parameters(), alone.actor.parameters(), strict=True),
        *zip(many.critics.parameters(), alone.critics.parameters(), strict=True),
    ):
        assert torch.allclose(one[2], other[0], atol=1e-5)


def test_a_fixed_entropy_coefficient_stays() -> None:
    ours = learner(perceptrons(entropy=0.3))
    before = ours.log_entropy.detach().clone()
    losses = ours.update(random_batch(1), *random_noise(ours), move_actor=True)
    assert losses.entropy.item() == pytest.approx(0.3)
    assert torch.equal(ours.log_entropy.detach(), before)


def test_actions_are_random_before_learning_starts() -> None:
    ours = Group(perceptrons(learning_starts=100), CPU, compile_update=False)
    observation = torch.zeros(1, FEATURES)
    early = torch.stack([ours.choose(observation, torch.tensor(i))[0] for i in range(100)])
    assert early.abs().max() <= 1
    assert early.std(0).min() > 0.4  # of an even distribution: 0.577


def test_squashed_samples_have_the_density_of_their_histogram() -> None:
    torch.manual_seed(0)
    mean, log_std = torch.tensor([0.4]), torch.tensor([-0.7])
    action, _ = squashed_sample(mean, log_std, torch.randn(200_000, 1))
    counts = torch.histc(action, bins=40, min=-1, max=1) / 200_000 / 0.05
    centres = torch.linspace(-0.975, 0.975, 40).unsqueeze(-1)
    noise = (torch.atanh(centres) - mean) / log_std.exp()
    again, log_prob = squashed_sample(mean, log_std, noise)
    assert torch.allclose(again, centres, atol=1e-6)
    assert torch.allclose(log_prob.exp(), counts, atol=0.06)
