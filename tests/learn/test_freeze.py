import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from icct.errors import ConfigError
from icct.learn.freeze import crispify, freeze
from icct.learn.module import TreeModule
from icct.learn.thaw import thaw
from icct.methods import tree_config
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.edit import set_threshold
from tests.random_policies import random_policy

CRISP = ("icct-static", "icct-1-feature", "icct-2-feature", "icct-complete")


def names(module: TreeModule) -> tuple[tuple[Feature, ...], tuple[Action, ...]]:
    features = tuple(Feature(f"x{i}") for i in range(module.features))
    return features, tuple(Action(f"a{i}", "", -1 - i, 2) for i in range(module.actions))


def random_module(seed: int, method: str, dtype: torch.dtype = torch.float32) -> TreeModule:
    """Return trees as training can leave them: signs, zeros and sharpness of every kind."""
    rng = np.random.default_rng(seed)
    config = tree_config(
        method,
        leaves=int(2 ** rng.integers(1, 5)),
        sharpness=("shared", "per_node")[rng.integers(2)],
    )
    features = int(rng.integers(2, 9))
    module = TreeModule(config, features, int(rng.integers(1, 3)), seeds=(seed, seed + 1))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            scale = 10.0 ** rng.integers(-2, 2)
            parameter.copy_(scale * torch.randn(parameter.shape, generator=generator))
        # Whole numbers, zeros of both signs and weights of 0 make ties and constant nodes.
        special = torch.rand(module.node_biases.shape, generator=generator) < 0.3
        module.node_biases[special] = float(rng.choice([0.0, -0.0, 1.0, -1.0, 0.5]))
        if rng.random() < 0.2:
            module.node_weights[:, 0] = 0.0
        if rng.random() < 0.1:
            module.sharpness.zero_()
        if rng.random() < 0.3:
            module.node_weights.copy_(module.node_weights.sign())
    return module.to(dtype).eval()


def observations_near(
    policy: Policy, rng: np.random.Generator, rows: int, dtype: torch.dtype
) -> np.ndarray:
    """Return observations of a type, many of them at a threshold or one ulp of that type away."""
    number = {torch.float32: np.float32, torch.float64: np.float64}[dtype]
    table = rng.normal(size=(rows, len(policy.features))) * 10.0 ** rng.integers(-2, 3)
    table = table.astype(number)
    flags = rng.random(table.shape) < 0.1
    table[flags] = rng.choice([0.0, -0.0, 1.0], size=flags.sum())
    for index in policy.splits:
        split = policy.nodes[index]
        assert isinstance(split, Split)
        at = number(split.threshold)
        near = [at, np.nextafter(at, number(np.inf)), np.nextafter(at, number(-np.inf))]
        chosen = rng.random(rows) < 0.2
        table[chosen, split.feature] = rng.choice(near, size=chosen.sum())
    return table


def leaf_and_action(
    module: TreeModule, member: int, table: np.ndarray, actions: tuple[Action, ...]
) -> tuple[np.ndarray, np.ndarray]:
    with torch.no_grad():
        inputs = torch.from_numpy(table).expand(module.members, -1, -1)
        leaf = module.leaf_routing(inputs)[member].argmax(-1).numpy()
        mean = module(inputs)[0][member].double().numpy()
    centre = np.array([action.centre for action in actions])
    half = np.array([action.half_range for action in actions])
    return leaf, centre + half * np.tanh(mean)


def assert_frozen_acts_as(module: TreeModule, member: int, seed: int, rows: int) -> None:
    features, actions = names(module)
    policy = freeze(module, features, actions, member=member)
    rng = np.random.default_rng(seed)
    table = observations_near(policy, rng, rows, module.node_weights.dtype)
    leaf, action = leaf_and_action(module, member, table, actions)
    # The same leaf: each leaf of the module has a log_std of its own, kept in the policy.
    kept = np.array([policy.nodes[index].log_std for index in policy.leaves_of(table)])
    assert np.array_equal(kept, module.log_std[member].detach().double().numpy()[leaf])
    largest = np.abs(table).max(1, keepdims=True) + 1
    weights = max(parameter.detach().abs().max().item() for parameter in module.parameters())
    tolerance = 1e-5 * (1 + weights * largest)
    assert (np.abs(policy.act_batch(table) - action) <= tolerance).all()


@settings(max_examples=150)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(CRISP))
def test_a_frozen_policy_acts_as_its_module(seed: int, method: str) -> None:
    module = random_module(seed, method)
    for member in range(module.members):
        assert_frozen_acts_as(module, member, seed, rows=400)


def test_freeze_agrees_on_100_000_observations() -> None:
    for seed, method in enumerate(CRISP):
        assert_frozen_acts_as(random_module(seed, method), 0, seed, rows=100_000)
        assert_frozen_acts_as(random_module(seed, method, torch.float64), 1, seed, rows=100_000)


def one_node(weight: float, bias: float, alpha: float) -> Policy:
    module = TreeModule(tree_config("icct-static", leaves=2), features=1, actions=1)
    with torch.no_grad():
        module.node_weights.fill_(weight)
        module.node_biases.fill_(bias)
        module.sharpness.fill_(alpha)
        module.leaf_biases[0, :, 0] = torch.tensor([1.0, -1.0])  # true, false
    return freeze(module, *names(module), squash="none")


@pytest.mark.parametrize(
    ("weight", "bias", "alpha", "true_at", "false_at"),
    [
        (2.0, 1.0, 1.0, 0.6, 0.5),  # a tie is false
        (2.0, 1.0, -1.0, 0.4, 0.5),
        (-2.0, 1.0, 1.0, -0.6, -0.5),
        (-2.0, 1.0, -3.0, -0.4, -0.5),
        (1.0, 0.0, 1.0, 1.0, 0.0),  # a contact flag
        (1.0, 0.0, 1.0, 1e-40, -0.0),
        (-1.0, -1.0, 1.0, 0.0, 1.0),
    ],
)
def test_signs_and_ties(
    weight: float, bias: float, alpha: float, true_at: float, false_at: float
) -> None:
    policy = one_node(weight, bias, alpha)
    assert policy.act([true_at])[0] == 1.0
    assert policy.act([false_at])[0] == -1.0


@pytest.mark.parametrize(
    ("weight", "bias", "alpha", "always"),
    [(0.0, -1.0, 1.0, 1.0), (0.0, 1.0, 1.0, -1.0), (1.0, 1.0, 0.0, -1.0), (0.0, 0.0, 1.0, -1.0)],
)
def test_a_node_that_never_decides_gives_way(
    weight: float, bias: float, alpha: float, always: float
) -> None:
    policy = one_node(weight, bias, alpha)
    assert policy.splits == ()
    assert policy.act([0.3])[0] == always


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), single=st.booleans())
def test_thawed_policies_act_as_before(seed: int, single: bool) -> None:
    policy = random_policy(seed, leaves=1 + seed % 9)
    if policy.depth > 6:
        return
    dtype = torch.float32 if single else torch.float64
    module = thaw(policy, members=2, dtype=dtype)
    table = observations_near(policy, np.random.default_rng(seed), 200, dtype)
    with torch.no_grad():
        inputs = torch.from_numpy(table).expand(2, -1, -1)
        mean = module(inputs)[0][1].double().numpy()
    values = np.array([[rule.value(row) for rule in leaf_at(policy, row)] for row in table])
    # A wrong leaf would show: rules of different leaves are far apart.
    assert np.allclose(mean, values, rtol=1e-4, atol=1e-4 * (1 + np.abs(table).max() * 100))
    again = freeze(module, policy.features, policy.actions, squash=policy.squash)
    assert np.allclose(
        again.act_batch(table), policy.act_batch(table), rtol=1e-4, atol=1e-3 * np.abs(table).max()
    )


def leaf_at(policy: Policy, row: np.ndarray) -> tuple[Controller, ...]:
    leaf = policy.nodes[policy.leaf_of(row)]
    assert isinstance(leaf, Leaf)
    return leaf.controllers


def test_freeze_edit_thaw_freeze() -> None:
    module = TreeModule(tree_config("icct-2-feature", leaves=8), features=5, actions=2, seeds=(7,))
    policy = freeze(module, *names(module))
    edited, _ = set_threshold(policy, policy.splits[0], 0.25)
    again = freeze(thaw(edited), *names(module))
    assert again.nodes == edited.nodes


def test_thawed_trees_can_learn() -> None:
    module = thaw(random_policy(5, features=4, leaves=5))
    mean, log_std = module(torch.randn(1, 64, 4))
    (mean.square().sum() + log_std.sum()).backward()
    assert module.node_biases.grad.abs().sum() > 0


def test_a_fuzzy_tree_is_crispified_not_frozen() -> None:
    module = TreeModule(tree_config("cddt", leaves=2), features=3, actions=1)
    with torch.no_grad():
        module.node_weights[0, 0] = torch.tensor([0.5, -2.0, 1.0])
        module.node_biases[0, 0] = 1.0
        module.leaf_biases[0, :, 0] = torch.tensor([0.7, -0.7])  # true, false
    with pytest.raises(ConfigError, match="A fuzzy tree is no policy"):
        freeze(module, *names(module))
    policy = crispify(module, *names(module))
    assert policy.nodes[0] == Split(1, -0.5, 1, 2)  # true where -2 x > 1
    assert policy.act([0.0, -0.6, 0.0])[0] == pytest.approx(0.5 + 1.5 * math.tanh(0.7))
    assert policy.act([0.0, -0.4, 0.0])[0] == pytest.approx(0.5 + 1.5 * math.tanh(-0.7))
    assert "does not act as the trained fuzzy tree" in policy.provenance.history[-1]
    crisp = TreeModule(tree_config("icct-static", leaves=2), features=3, actions=1)
    with pytest.raises(ConfigError, match="use freeze"):
        crispify(crisp, *names(crisp))


def test_crispify_controllers_with_a_node_of_weight_zero() -> None:
    module = TreeModule(tree_config("cddt-controllers", leaves=4), features=3, actions=2)
    with torch.no_grad():
        module.node_weights[0, 0] = 0.0
        module.node_biases[0, 0] = -1.0  # 0 x + 1 > 0: always true
    policy = crispify(module, *names(module))
    assert len(policy.leaves) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"member": 5}, "There is no member 5"),
        ({"features": ()}, "The module has 3 features and 1 actions"),
    ],
)
def test_wrong_calls_are_refused(change: dict[str, object], says: str) -> None:
    module = TreeModule(tree_config("icct-static", leaves=2), features=3, actions=1)
    features, actions = names(module)
    arguments = {"features": features, "actions": actions} | change
    with pytest.raises(ConfigError, match=says):
        freeze(module, **arguments)  # type: ignore[arg-type]


def test_a_tree_too_deep_to_fill_is_refused() -> None:
    chain: list[Split | Leaf] = []
    for depth in range(11):
        chain += [Split(0, float(-depth), 2 * depth + 2, 2 * depth + 1), Leaf((Controller(),))]
    policy = Policy("chain", (Feature("x"),), (Action("a"),), (*chain, Leaf((Controller(),))))
    with pytest.raises(ConfigError, match="depth 11; thaw fills trees up to depth 10"):
        thaw(policy)
