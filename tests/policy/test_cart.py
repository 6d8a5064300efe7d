import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from icct.errors import PolicyError
from icct.policy import Action, Feature
from icct.policy.cart import from_sklearn

FEATURES = tuple(Feature(f"x{i}") for i in range(3))
ACTIONS = (Action("a", "", -1, 1), Action("b", "", -5, 5))


@pytest.mark.parametrize("seed", range(5))
def test_the_policy_acts_as_the_tree_at_every_threshold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(500, 3)), 1).astype(np.float32)  # rounded: many ties
    y = np.column_stack((np.tanh(x[:, 0] * x[:, 1]), x[:, 2])).clip(-1, 1)
    tree = DecisionTreeRegressor(max_leaf_nodes=20, random_state=seed).fit(x, y)
    policy = from_sklearn(tree, FEATURES, ACTIONS)
    assert len(policy.leaves) == 20
    rows = [x]
    for feature, threshold in zip(tree.tree_.feature, tree.tree_.threshold, strict=True):
        at = np.float32(threshold)
        for value in (at, np.nextafter(at, np.float32(9)), np.nextafter(at, np.float32(-9))):
            near = x[:20].copy()
            near[:, max(feature, 0)] = value
            rows.append(near)
    table = np.concatenate(rows)
    assert np.array_equal(policy.act_batch(table), tree.predict(table))


def test_what_is_no_regression_tree_is_refused() -> None:
    x = np.zeros((4, 3))
    x[:, 0] = range(4)
    with pytest.raises(PolicyError, match="call its fit first"):
        from_sklearn(DecisionTreeRegressor(), FEATURES, ACTIONS)
    classifier = DecisionTreeClassifier().fit(x, [0, 1, 0, 1])
    with pytest.raises(PolicyError, match="predicts classes"):
        from_sklearn(classifier, FEATURES, ACTIONS[:1])
    regressor = DecisionTreeRegressor().fit(x, [0, 1, 0, 1])
    with pytest.raises(PolicyError, match="3 features and 1 actions; 3 and 2"):
        from_sklearn(regressor, FEATURES, ACTIONS)
