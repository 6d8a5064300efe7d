"""A policy made from a scikit-learn tree predicts what the tree predicts, at every tie."""

import numpy as np
import pytest

from icct.errors import PolicyError
from icct.policy import Action, Feature
from icct.policy.file import policy_from_json, policy_to_json
from icct.policy.sklearn import float32_threshold, from_sklearn

tree_module = pytest.importorskip("sklearn.tree")


def fitted(seed: int, outputs: int, leaves: int | None = None):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-3, 3, size=3)
    table[:, 2] = rng.integers(0, 2, size=300)  # a contact flag
    targets = rng.normal(size=(300, outputs))
    regressor = tree_module.DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0)
    return regressor.fit(table, targets if outputs > 1 else targets[:, 0]), table


def around_thresholds(regressor, table: np.ndarray) -> np.ndarray:
    """Return rows with a feature at a threshold, at the float32 beside it and where they round."""
    rng = np.random.default_rng(0)
    rows = table[rng.integers(len(table), size=4000)]
    splits = np.flatnonzero(regressor.tree_.children_left >= 0)
    for row in rows:
        split = rng.choice(splits)
        threshold = regressor.tree_.threshold[split]
        near = np.float32(threshold)
        other = np.nextafter(near, np.float32(rng.choice([-np.inf, np.inf])))
        middle = (float(near) + float(other)) / 2
        value = rng.choice([threshold, float(near), float(other), middle])
        steps = rng.integers(-1, 2)
        row[regressor.tree_.feature[split]] = (
            np.nextafter(value, steps * np.inf) if steps else value
        )
    return rows


@pytest.mark.parametrize(("outputs", "leaves"), [(1, 2), (1, 16), (2, None), (3, 40)])
def test_predictions_agree_to_the_last_bit(outputs: int, leaves: int | None) -> None:
    regressor, table = fitted(outputs, outputs, leaves)
    policy = from_sklearn(regressor)
    rows = around_thresholds(regressor, table)
    predicted = regressor.predict(rows).reshape(len(rows), outputs)
    assert np.array_equal(policy.act_batch(rows), predicted)
    assert np.array_equal(policy.leaves_of(rows), regressor.apply(rows))
    assert len(policy.leaves) == regressor.get_n_leaves()
    assert policy_from_json(policy_to_json(policy)) == policy


@pytest.mark.parametrize("threshold", [0.0, 0.5, -0.5, 0.1, -1e-30, 1e-45, 3.0e38, 1 / 3, 1e300])
def test_the_moved_threshold_is_the_last_that_rounds_down(threshold: float) -> None:
    moved = float32_threshold(threshold)  # 1e300: beyond every float32
    with np.errstate(over="ignore"):
        assert float(np.float32(moved)) <= threshold or threshold > 3.4e38
        assert float(np.float32(np.nextafter(moved, np.inf))) > threshold


def test_names_units_and_limits() -> None:
    regressor, _ = fitted(0, 1, 4)
    features = [Feature("gap", "m"), Feature("speed", "m/s"), Feature("contact")]
    policy = from_sklearn(regressor, features, [Action("force", "N", -5, 5)], name="imitator")
    assert policy.features == tuple(features)
    assert policy.name == "imitator"
    assert policy.provenance.history == ("imported from scikit-learn",)


def test_wrong_use() -> None:
    regressor, _ = fitted(0, 1, 4)
    with pytest.raises(PolicyError, match="2 features were given, but the tree has 3"):
        from_sklearn(regressor, [Feature("a"), Feature("b")])
    with pytest.raises(PolicyError, match="call fit first"):
        from_sklearn(tree_module.DecisionTreeRegressor())
    classifier = tree_module.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(PolicyError, match="not a fitted DecisionTreeRegressor"):
        from_sklearn(classifier)
