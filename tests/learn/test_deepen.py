"""Growing trees on problems small enough to know the answer."""

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from icct import read_policy, write_policy
from icct.cli.main import main
from icct.envs.catalog import INVERTED_PENDULUM
from icct.errors import ConfigError
from icct.learn.adapt import method_of
from icct.learn.build import make_actor, make_critics
from icct.learn.config import TrainConfig, make_config
from icct.learn.deepen import Deepening, parts
from icct.learn.freeze import freeze
from icct.learn.leaf_entropy import (
    best_draw,
    entropy_gain,
    leaf_entropies,
    moments,
    normal_entropy,
)
from icct.learn.sac import Batch, Sac
from icct.policy import Controller, Leaf, Policy, Split
from tests.random_policies import random_policy

FEATURES, ACTIONS = INVERTED_PENDULUM.features, INVERTED_PENDULUM.actions


def config(**changes: object) -> TrainConfig:
    values = {
        "leaves": 2,
        "grow": True,
        "max_leaves": 4,
        "grow_every": 100,
        "learning_starts": 10,
        "batch_size": 16,
        "critic_hidden": (8, 8),
    }
    return make_config("inverted-pendulum", "icct-static", **values | changes)  # type: ignore[arg-type]


def learner_of(config: TrainConfig) -> Sac:
    return Sac(config, make_actor(config), make_critics(config))


def test_the_entropy_of_a_normal_distribution() -> None:
    assert normal_entropy(torch.ones(1)).item() == pytest.approx(1.418939, abs=1e-5)
    two = normal_entropy(torch.tensor([1.0, math.e**2]))
    assert two.item() == pytest.approx(2 * 1.418939 + 1, abs=1e-5)  # actions add up


def test_the_entropy_of_a_leaf() -> None:
    actor = make_actor(config())
    with torch.no_grad():
        actor.node_weights[0, 0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
        actor.node_biases[0, 0] = 0.0
        actor.leaf_biases.zero_()  # every leaf acts 0
    observations = torch.zeros(1, 4, 4)
    observations[0, :, 0] = torch.tensor([1.0, 1.0, 1.0, -1.0])
    tried = torch.tensor([[-0.5], [0.1], [0.9]])
    share = torch.zeros(1, 4, 3)
    share[0, :, 0] = torch.tensor([1.0, 0.5, 0.0, 0.0])
    share[0, :, 1] = torch.tensor([0.0, 0.5, 0.0, 1.0])
    share[0, :, 2] = torch.tensor([0.0, 0.0, 1.0, 0.0])
    entropy, seen = leaf_entropies(actor, observations, tried, share)
    above = (0.25 + 0.5 * (0.25 + 0.01) + 0.81) / 3  # mean square distance from 0
    assert seen[0].tolist() == [3, 0, 0, 0, 1, 0, 0, 0]  # room for 8, two in use
    assert entropy[0, 0].item() == pytest.approx(0.5 * math.log(2 * math.pi * math.e * above))
    assert entropy[0, 4].item() == pytest.approx(0.5 * math.log(2 * math.pi * math.e * 0.01))
    good = moments(tried, share)
    assert good[0, 1, 0].tolist() == pytest.approx([-0.2, 0.13])


def pair(entropy: float, seen: float) -> tuple[Tensor, Tensor]:
    return torch.tensor(entropy), torch.tensor(seen)


def test_children_count_by_what_reaches_them() -> None:
    gain = entropy_gain(pair(1.0, 100), pair(0.2, 75), pair(0.6, 25))
    assert gain == pytest.approx(1.0 - 0.3)
    assert entropy_gain(pair(1.0, 30), pair(0.2, 15), pair(0.6, 15)) == -math.inf  # too few
    assert entropy_gain(pair(1.0, 100), pair(0.2, 99), pair(0.6, 1)) == -math.inf  # no split


def test_the_best_of_random_splits() -> None:
    generator = torch.Generator().manual_seed(0)
    observations = torch.rand(400, 3, generator=generator)
    good = torch.where(observations[:, 1] > 0.6, 0.5, -0.5)
    feature, threshold = best_draw(
        observations, torch.stack((good, good.square()), -1).unsqueeze(1), generator
    )
    assert feature == 1
    assert threshold == pytest.approx(0.6, abs=0.1)


class KnownCritics:
    """Values with a known best action: 0.5 where feature 0 is above 0, else by feature 1."""

    def __call__(self, observations: Tensor, actions: Tensor, frozen: bool = False) -> Tensor:
        below = torch.where(observations[..., 1] > 0, 0.8, -0.8)
        best = torch.where(observations[..., 0] > 0, 0.5, below)
        value = -(actions[..., 0] - best).square()
        return torch.stack((value, value), dim=1)


def known_case() -> tuple[Deepening, Tensor]:
    """Return a tree of two leaves of which the second, and only that one, should be split."""
    learner = learner_of(config())
    growth = Deepening(config(), learner)
    learner.critics = KnownCritics()  # type: ignore[assignment]
    learner.log_entropy.detach().fill_(math.log(0.01))
    for module in (growth.actor, growth.deeper):
        with torch.no_grad():
            module.node_weights.zero_()
            module.node_weights[0, 0, 0] = 1.0  # the root looks at feature 0
            module.node_weights[0, 1, 1] = 1.0  # both new splits at feature 1
            module.node_weights[0, 2, 1] = 1.0
            module.node_biases.zero_()
            best = torch.tensor([0.5, 0.5, 0.5, 0.5, 0.8, 0.8, -0.8, -0.8])
            module.leaf_biases[0, :, 0] = torch.atanh(best)
    with torch.no_grad():
        growth.actor.leaf_biases[0, 4, 0] = 0.0  # the best that one leaf can do there
    observations = 2 * torch.rand(1, 500, 4, generator=torch.Generator().manual_seed(1)) - 1
    return growth, observations


def test_the_leaf_that_needs_it_is_split_and_no_other() -> None:
    growing, observations = known_case()
    assert growing.grow(observations, step=50) == []  # the first call only places fresh splits
    growing, observations = known_case()
    (growth,) = growing.grow(observations, step=200)
    assert (growth.member, growth.position, growth.leaves) == (0, 2, 3)
    assert growth.gain > 1
    policy = freeze(growing.actor, FEATURES, ACTIONS)
    assert len(policy.leaves) == 3
    assert policy.depth == 2
    half = ACTIONS[0].half_range
    for observation, best in (([1, 1], 0.5), ([1, -1], 0.5), ([-1, 1], 0.8), ([-1, -1], -0.8)):
        assert policy.act([*observation, 0, 0])[0] == pytest.approx(half * best, abs=1e-5)


def test_a_full_tree_does_not_grow() -> None:
    growing, observations = known_case()
    growing.config = config(max_leaves=2)
    assert growing.grow(observations, step=200) == []


def test_the_deeper_tree_follows_the_tree_and_keeps_its_own_splits() -> None:
    growing, observations = known_case()
    deeper = growing.deeper
    own = deeper.node_weights[0, 1].clone()
    with torch.no_grad():
        growing.actor.node_biases[0, 0] = 0.7
        growing.actor.node_weights[0, 1] = 9.0
    growing.follow()
    assert deeper.node_biases[0, 0].item() == pytest.approx(0.7)
    assert torch.equal(deeper.node_weights[0, 1], own)
    routed = growing.actor.leaf_routing(observations)
    finer = deeper.leaf_routing(observations)
    assert torch.equal(routed[..., :4].sum(-1), finer[..., :4].sum(-1))


def test_a_split_takes_its_leaves_and_their_optimiser_state_along() -> None:
    growing, observations = known_case()
    for mean in growing.adam.means:
        mean.copy_(1 + torch.arange(mean.numel()).reshape(mean.shape))
    expected = [part.clone() for part in parts(growing.actor, growing.adam.means, 0, 2)]
    growing.grow(observations, step=200)
    means = growing.learner.actor_adam.means
    found = parts(growing.actor, means, 0, 2)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    elsewhere = parts(growing.actor, means, 0, 1)
    assert not any(part.any() for part in elsewhere)


# -- a start from policies ------------------------------------------------------------------------


def policy_file(tmp_path: Path, seed: int = 3, leaves: int = 5) -> tuple[Policy, str]:
    made = random_policy(seed, features=4, actions=1, leaves=leaves)
    tree = Policy("start", FEATURES, ACTIONS, made.nodes)
    path = tmp_path / f"start-{seed}.json"
    write_policy(tree, path)
    return tree, str(path)


def test_members_start_as_their_policies(tmp_path: Path) -> None:
    first, a = policy_file(tmp_path, 3, leaves=5)
    second, b = policy_file(tmp_path, 4, leaves=3)
    made = make_config("inverted-pendulum", "icct-complete", seeds=(0, 1), init=(a, b))
    actor = make_actor(made)
    observations = torch.randn(2, 200, 4)
    mean = actor(observations)[0].detach().double()
    for member, policy in enumerate((first, second)):
        again = freeze(actor, FEATURES, ACTIONS, member=member)
        assert len(again.leaves) == len(policy.leaves)  # as uneven as it was
        rows = observations[member].numpy()
        for row, value in zip(rows, mean[member], strict=True):
            leaf = policy.nodes[policy.leaf_of(row)]
            assert isinstance(leaf, Leaf)
            assert value.item() == pytest.approx(leaf.controllers[0].value(row), abs=1e-3)


def test_the_critics_learn_alone_first(tmp_path: Path) -> None:
    _, path = policy_file(tmp_path)
    made = make_config(
        "inverted-pendulum", "icct-complete", init=(path,), learning_starts=10, critic_first=5
    )
    learner = learner_of(made)
    assert [learner.moves_actor(step) for step in (11, 15, 16)] == [False, False, True]
    batch = (torch.randn(1, 8, 4), torch.randn(1, 8, 4), torch.rand(1, 8, 1))
    rest = (torch.randn(1, 8), torch.zeros(1, 8))
    noise = torch.randn(2, 1, 8, 1)
    actor, critic = learner.actor.leaf_biases, learner.critics.layers[0]
    before, critics = actor.clone(), critic.clone()
    learner.update(Batch(*batch, *rest), *noise, move_actor=False)
    assert torch.equal(actor, before)
    assert learner.log_entropy.exp().item() == pytest.approx(0.02)
    assert not torch.equal(critic, critics)
    learner.update(Batch(*batch, *rest), *noise, move_actor=True)
    assert not torch.equal(actor, before)
    assert learner.log_entropy.exp().item() != pytest.approx(0.02)


def test_starts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    policy, path = policy_file(tmp_path)
    with pytest.raises(ConfigError, match="has a rule of"):
        make_actor(make_config("inverted-pendulum", "icct-1-feature", init=(path,)))
    with pytest.raises(ConfigError, match="needs --leaves"):
        make_actor(make_config("inverted-pendulum", "icct-complete", init=(path,), leaves=2))
    clipped = tmp_path / "clipped.json"
    write_policy(Policy("clipped", FEATURES, ACTIONS, policy.nodes, "clip"), clipped)
    with pytest.raises(ConfigError, match="training squashes by 'tanh'"):
        make_actor(make_config("inverted-pendulum", "icct-complete", init=(str(clipped),)))
    for method, changes, says in (
        ("mlp-max", {"init": (path,)}, "mlp-max cannot become"),
        ("cddt", {"grow": True}, "crisp while it learns"),
        ("icct-static", {"grow": True, "algorithm": "td3"}, "need the algorithm sac"),
        ("icct-static", {"options": ("pole_length",)}, "NAME=VALUE"),
        ("icct-static", {"init": (path, path), "seeds": (0, 1, 2)}, "init has 2 files"),
        ("icct-static", {"grow_every": 0}, "grow_every is 0"),
    ):
        with pytest.raises(ConfigError, match=says):
            make_config("inverted-pendulum", method, **changes)  # type: ignore[arg-type]


def test_a_method_for_every_policy() -> None:
    def tree(*weights: int) -> Policy:
        rule = Controller(tuple((index, 1.0) for index in weights))
        return Policy(
            "tree", FEATURES, ACTIONS, (Split(0, 0.0, 1, 2), Leaf((Controller(),)), Leaf((rule,)))
        )

    assert method_of(tree()) == "icct-static"
    assert method_of(tree(1, 3)) == "icct-2-feature"
    assert method_of(tree(0, 1, 2, 3)) == "icct-complete"


def test_adapt_by_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, path = policy_file(tmp_path)
    settings = tmp_path / "short.toml"
    settings.write_text(
        "batch_size = 16\ncritic_hidden = [8, 8]\nlearning_starts = 20\ncritic_first = 20\n"
        "grow_every = 50\nevaluate_every = 100\nevaluate_episodes = 1\n"
    )
    words = ["adapt", path, "--task", "inverted-pendulum", "--option", "pole_length=1.2"]
    words += ["--steps", "200", "--config", str(settings), "--episodes", "2"]
    words += ["--out", str(tmp_path / "run"), "-o", str(tmp_path / "adapted.json")]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "before: 5 leaves" in text
    assert "after: " in text
    adapted = read_policy(tmp_path / "adapted.json")
    assert 5 <= len(adapted.leaves) <= 10
    assert (tmp_path / "run" / "run.json").read_text().count('"pole_length": "1.2"') == 1
