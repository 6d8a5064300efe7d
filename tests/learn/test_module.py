import pytest
import torch

from icct.errors import ConfigError
from icct.learn.module import TreeModule
from icct.methods import METHODS, TreeConfig, tree_config


@pytest.mark.parametrize("method", METHODS)
def test_gradients_reach_every_parameter(method: str) -> None:
    torch.manual_seed(0)
    config = tree_config(method, leaves=4, sharpness="per_node")
    module = TreeModule(config, features=8, actions=2, seeds=(1, 2, 3))
    observations = torch.randn(3, 256, 8)
    mean, log_std = module(observations)
    assert mean.shape == log_std.shape == (3, 256, 2)
    (
        mean.square().sum() + log_std.square().sum() + module.l1_penalty(observations).sum()
    ).backward()
    for name, parameter in module.named_parameters():
        for member in range(3):
            assert parameter.grad[member].abs().sum() > 0, (name, member)


@pytest.mark.parametrize("method", METHODS)
def test_a_member_is_the_same_alone_and_among_others(method: str) -> None:
    config = tree_config(method, leaves=8)
    many = TreeModule(config, features=8, actions=2, seeds=(4, 5, 6)).eval()
    alone = TreeModule(config, features=8, actions=2, seeds=(5,)).eval()
    observations = torch.randn(3, 50, 8)
    for one, other in zip(many(observations), alone(observations[1:2]), strict=True):
        assert torch.allclose(one[1], other[0], atol=1e-6)


def test_crisp_trees_use_one_leaf_and_fuzzy_trees_all() -> None:
    observations = torch.randn(1, 100, 3)
    crisp = TreeModule(tree_config("icct-static", leaves=8), 3, 1).leaf_routing(observations)
    assert torch.equal(crisp.sum(-1), torch.ones(1, 100))
    assert set(crisp.detach().unique().tolist()) == {0.0, 1.0}
    fuzzy = TreeModule(tree_config("cddt", leaves=8), 3, 1).leaf_routing(observations)
    assert (fuzzy > 0).all()


def test_a_crisp_node_looks_at_one_feature() -> None:
    module = TreeModule(tree_config("icct-static", leaves=2), features=4, actions=1)
    chosen = module.node_weights[0, 0].abs().argmax().item()
    observations = torch.randn(1, 20, 4)
    scores = module.node_scores(observations)
    others = [feature for feature in range(4) if feature != chosen]
    observations[..., others] = torch.randn(1, 20, 3)
    assert torch.equal(module.node_scores(observations), scores)


def test_gumbel_noise_disturbs_training_only() -> None:
    module = TreeModule(tree_config("icct-2-feature-gumbel"), features=8, actions=2)
    observations = torch.randn(1, 300, 8)
    noisy = [module(observations)[0] for _ in range(2)]
    assert not torch.equal(*noisy)
    module.eval()
    assert torch.equal(module(observations)[0], module(observations)[0])
    assert not torch.equal(module(observations, noisy=True)[0], module(observations)[0])


def test_the_l1_penalty_weighs_a_leaf_by_the_share_of_the_batch_that_reaches_it() -> None:
    """One node asks whether the only feature is above 0; the true branch comes first."""
    module = TreeModule(tree_config("icct-l1-sparse", leaves=2, l1=0.5), 1, 2, seeds=(0, 1))
    with torch.no_grad():
        module.node_weights.fill_(1.0)
        module.node_biases.zero_()
        module.leaf_weights.copy_(torch.tensor([[1.0, -2.0], [3.0, 4.0]]).unsqueeze(-1))
        module.l1[1] = 5.0
    observations = torch.tensor([[1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, -1.0]]).unsqueeze(-1)
    penalty = module.l1_penalty(observations)
    # l1 * leaves * (share of the true leaf * 3 + share of the false leaf * 7)
    assert penalty.tolist() == [0.5 * 2 * (0.75 * 3 + 0.25 * 7), 5 * 2 * (0.25 * 3 + 0.75 * 7)]
    penalty.sum().backward()
    assert module.leaf_weights.grad[0, 0].flatten().tolist() == [0.75, -0.75]
    assert module.node_weights.grad is None  # no leaf is avoided for its weights


def test_the_l1_penalty_of_an_uneven_tree_counts_its_own_leaves() -> None:
    module = TreeModule(tree_config("icct-l1-sparse", leaves=4, l1=1.0), 1, 1)
    module.active = torch.tensor([[True, False, False]])
    with torch.no_grad():
        module.leaf_weights.fill_(1.0)
    assert module.l1_penalty(torch.randn(1, 16, 1)).tolist() == [2.0]


def test_constant_leaves_have_no_l1_penalty() -> None:
    module = TreeModule(tree_config("icct-static"), 3, 1)
    assert module.l1_penalty(torch.randn(1, 16, 3)).tolist() == [0.0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: TreeConfig(leaves=12), "leaves is 12, expected a power of two"),
        (lambda: TreeConfig(leaves=1), "leaves is 1"),
        (lambda: TreeConfig(routing="crips"), "Did you mean 'crisp'?"),
        (lambda: TreeConfig(leaf="linear"), "leaf is 'linear', expected one of static"),
        (lambda: TreeConfig(leaf_features=0), "leaf_features is 0"),
        (lambda: TreeConfig(temperature=0.0), "temperature is 0.0"),
        (lambda: TreeConfig(l1=-1.0), "l1 is -1.0"),
        (lambda: TreeConfig(routing="fuzzy"), "A fuzzy tree chooses nothing"),
        (lambda: tree_config("icct-9-feature"), "There is no tree method 'icct-9-feature'"),
        (lambda: tree_config("cddt", leafs=3), "Did you mean 'leaf'?"),
        (lambda: TreeModule(TreeConfig(leaf_features=4), 3, 1), "there are only 3 features"),
        (lambda: TreeModule(TreeConfig(), 0, 1), "needs features, actions and seeds"),
    ],
)
def test_bad_configurations_are_refused(make: object, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()  # type: ignore[operator]
    assert says in str(caught.value)
