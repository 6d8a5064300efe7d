import pytest
import torch

from icct.errors import ConfigError
from icct.learn.methods import METHODS, TreeConfig, tree_config
from icct.learn.module import TreeModule


@pytest.mark.parametrize("method", METHODS)
def test_gradients_reach_every_parameter(method: str) -> None:
    torch.manual_seed(0)
    config = tree_config(method, leaves=4, sharpness="per_node")
    module = TreeModule(config, features=5, actions=2, seeds=(1, 2, 3))
    mean, log_std = module(torch.randn(3, 256, 5))
    assert mean.shape == log_std.shape == (3, 256, 2)
    (mean.square().sum() + log_std.square().sum() + module.l1_penalty().sum()).backward()
    for name, parameter in module.named_parameters():
        for member in range(3):
            assert parameter.grad[member].abs().sum() > 0, (name, member)


@pytest.mark.parametrize("method", METHODS)
def test_a_member_is_the_same_alone_and_among_others(method: str) -> None:
    config = tree_config(method, leaves=8)
    many = TreeModule(config, features=6, actions=2, seeds=(4, 5, 6)).eval()
    alone = TreeModule(config, features=6, actions=2, seeds=(5,)).eval()
    observations = torch.randn(3, 50, 6)
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


def test_the_l1_penalty_is_per_member() -> None:
    module = TreeModule(tree_config("icct-l1-sparse", leaves=2, l1=0.5), 3, 1, seeds=(0, 1))
    expected = 0.5 * module.leaf_weights.abs().flatten(1).sum(1)
    assert torch.allclose(module.l1_penalty(), expected)
    assert TreeModule(tree_config("icct-static"), 3, 1).l1_penalty().tolist() == [0.0]


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
        (lambda: tree_config("icct-4-feature"), "There is no tree method 'icct-4-feature'"),
        (lambda: tree_config("cddt", leafs=3), "Did you mean 'leaf'?"),
        (lambda: TreeModule(TreeConfig(leaf_features=4), 3, 1), "there are only 3 features"),
        (lambda: TreeModule(TreeConfig(), 0, 1), "needs features, actions and seeds"),
    ],
)
def test_bad_configurations_are_refused(make: object, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()  # type: ignore[operator]
    assert says in str(caught.value)
