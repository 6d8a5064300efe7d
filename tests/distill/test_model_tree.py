import numpy as np
import pytest

from icct.distill import Pairs, fit_given_splits, fit_model_tree
from icct.errors import ConfigError
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split

FEATURES = tuple(Feature(name, "", -1, 1) for name in ("x", "y", "z"))
ACTIONS = (Action("a", "", -2, 2), Action("b", "", 0, 1))


def rule(weights: dict[int, float], bias: float) -> Controller:
    return Controller(tuple(weights.items()), bias)


KNOWN = Policy(
    "known",
    FEATURES,
    ACTIONS,
    (
        Split(1, 0.25, 1, 2),
        Leaf((rule({0: 0.5, 2: -1.0}, 0.2), rule({1: 0.3}, -0.1))),
        Leaf((rule({1: -0.8}, 0.0), rule({0: 0.6, 1: 0.4}, 0.3))),
    ),
)


def pairs_of(policy: Policy, count: int = 4000, seed: int = 0) -> Pairs:
    observations = np.random.default_rng(seed).uniform(-1, 1, (count, len(policy.features)))
    observations = observations.astype(np.float32)
    return Pairs(observations, policy.act_batch(observations))


def test_a_tree_of_two_leaves_is_found_again() -> None:
    pairs = pairs_of(KNOWN)
    found = fit_model_tree(pairs, FEATURES, ACTIONS, leaves=2, leaf_features=2)
    assert len(found.leaves) == 2
    root = found.nodes[0]
    assert isinstance(root, Split)
    assert root.feature == 1
    assert root.threshold == pytest.approx(0.25, abs=0.05)  # one of 32 places
    assert np.abs(found.act_batch(pairs.observations) - pairs.actions).mean() < 0.02
    leaf = found.nodes[found.leaf_of([0, -0.9, 0])]
    assert isinstance(leaf, Leaf)
    assert dict(leaf.controllers[0].weights) == pytest.approx({0: 0.5, 2: -1.0}, abs=0.05)


def test_one_leaf_and_one_feature() -> None:
    single = Policy("line", FEATURES, ACTIONS[:1], (Leaf((rule({2: 0.7}, -0.4),)),))
    found = fit_model_tree(pairs_of(single), FEATURES, ACTIONS[:1], leaves=1, leaf_features=1)
    (leaf,) = found.nodes
    assert isinstance(leaf, Leaf)
    assert dict(leaf.controllers[0].weights) == pytest.approx({2: 0.7}, abs=1e-5)
    assert leaf.controllers[0].bias == pytest.approx(-0.4, abs=1e-5)
    assert leaf.log_std == (-3.0,)  # an exact rule: the least noise to train on with


@pytest.mark.parametrize("leaves", [2, 5, 8])
def test_leaves_and_features_are_limited(leaves: int) -> None:
    rng = np.random.default_rng(3)
    observations = rng.uniform(-1, 1, (3000, 3)).astype(np.float32)
    wild = np.sin(7 * observations[:, :1]) * np.sign(observations[:, 1:2])
    tree = fit_model_tree(
        Pairs(observations, wild), FEATURES, ACTIONS[:1], leaves=leaves, leaf_features=1
    )
    assert len(tree.leaves) == leaves
    for index in tree.leaves:
        leaf = tree.nodes[index]
        assert isinstance(leaf, Leaf)
        assert all(len(one.weights) <= 1 for one in leaf.controllers)


def test_what_one_rule_explains_is_not_split() -> None:
    single = Policy("line", FEATURES, ACTIONS[:1], (Leaf((rule({2: 0.7, 0: 1.0}, -0.4),)),))
    few = pairs_of(single, count=40)  # too few pairs for two rules
    tree = fit_model_tree(few, FEATURES, ACTIONS[:1], leaves=8, leaf_features=2)
    assert len(tree.leaves) == 1


def test_saturated_actions_are_imitated_too() -> None:
    bang = Policy(
        "bang",
        FEATURES,
        ACTIONS[:1],
        (Split(0, 0.0, 1, 2), Leaf((rule({}, -9.0),)), Leaf((rule({}, 9.0),))),
    )
    pairs = pairs_of(bang)
    tree = fit_model_tree(pairs, FEATURES, ACTIONS[:1], leaves=2, leaf_features=1)
    far = np.abs(pairs.observations[:, 0]) > 0.1
    assert np.abs(tree.act_batch(pairs.observations[far]) - pairs.actions[far]).max() < 0.05


def test_too_many_features_are_refused() -> None:
    with pytest.raises(ConfigError, match="expected 0 to 3"):
        fit_model_tree(pairs_of(KNOWN), FEATURES, ACTIONS, leaves=2, leaf_features=4)


def test_constant_leaves_act_by_the_mean_action() -> None:
    rng = np.random.default_rng(5)
    observations = rng.uniform(-1, 1, (400, 3)).astype(np.float32)
    wild = np.where(observations[:, :1] > 0.5, 1.9, -0.3) + 0.4 * rng.normal(size=(400, 1))
    wild = np.clip(wild, -2, 2)
    tree = fit_model_tree(
        Pairs(observations, wild), FEATURES, ACTIONS[:1], leaves=2, leaf_features=0
    )
    leaf_of = tree.leaves_of(observations)
    assert len(tree.leaves) == 2
    for index in tree.leaves:
        assert tree.leaf(index).controllers[0].weights == ()
        acted = tree.act_batch(observations[leaf_of == index])
        assert acted == pytest.approx(wild[leaf_of == index].mean(), abs=1e-9)


@pytest.mark.parametrize("leaves", [2, 8, 16])
def test_a_balanced_tree_has_all_leaves_at_one_depth(leaves: int) -> None:
    rng = np.random.default_rng(3)
    observations = rng.uniform(-1, 1, (3000, 3)).astype(np.float32)
    observations[:, 0] = np.abs(observations[:, 0]) ** 9  # most rows in a corner
    wild = np.sin(7 * observations[:, :1]) * np.sign(observations[:, 1:2])
    tree = fit_model_tree(
        Pairs(observations, wild),
        FEATURES,
        ACTIONS[:1],
        leaves=leaves,
        leaf_features=1,
        balanced=True,
    )
    depths = [level for level, index in tree.levels() if index in tree.leaves]
    assert depths == [int(np.log2(leaves))] * leaves


def test_a_balanced_tree_is_complete_where_nothing_is_left_to_split() -> None:
    few = pairs_of(KNOWN, count=50)
    tree = fit_model_tree(few, FEATURES, ACTIONS, leaves=16, leaf_features=2, balanced=True)
    assert len(tree.leaves) == 16
    assert np.isfinite(tree.act_batch(few.observations)).all()
    with pytest.raises(ConfigError, match="power of two"):
        fit_model_tree(few, FEATURES, ACTIONS, leaves=6, leaf_features=2, balanced=True)


def test_given_splits_stay_and_rules_are_found_again() -> None:
    pairs = pairs_of(KNOWN)
    found = fit_given_splits(pairs, KNOWN, leaf_features=2)
    assert found.nodes[0] == KNOWN.nodes[0]
    assert np.abs(found.act_batch(pairs.observations) - pairs.actions).max() < 1e-4
    for index in KNOWN.leaves:
        for rule, known in zip(
            found.leaf(index).controllers, KNOWN.leaf(index).controllers, strict=True
        ):
            assert dict(rule.weights) == pytest.approx(
                {f: dict(known.weights).get(f, 0.0) for f, _ in rule.weights}, abs=1e-4
            )


def test_a_leaf_that_hardly_any_pair_reaches_gets_the_rule_above_it() -> None:
    deep = Policy(
        "deep",
        FEATURES,
        ACTIONS,
        (
            Split(1, 0.25, 1, 2),
            KNOWN.nodes[1],
            Split(0, 0.98, 3, 4),
            KNOWN.nodes[2],
            Leaf((rule({}, 5.0), rule({}, 5.0))),
        ),
    )
    pairs = pairs_of(deep, count=2000)
    assert 0 < (deep.leaves_of(pairs.observations) == 4).sum() < 30
    found = fit_given_splits(pairs, deep, leaf_features=2)
    above = pairs.observations[pairs.observations[:, 1] > 0.25]
    together = fit_given_splits(
        Pairs(above, deep.act_batch(above)), Policy("one", FEATURES, ACTIONS, (deep.nodes[4],)),
        leaf_features=2,
    )  # fmt: skip
    for one, other in zip(found.leaf(4).controllers, together.leaf(0).controllers, strict=True):
        assert dict(one.weights) == pytest.approx(dict(other.weights), rel=0.05)
