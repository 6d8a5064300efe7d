import numpy as np
import pytest

from icct.distill import Pairs
from icct.distill.moving import fit_rules, with_moved_splits
from icct.distill.table import Table
from icct.policy import Leaf, Split
from icct.policy.parts import Node
from tests.distill.test_model_tree import ACTIONS, KNOWN, pairs_of


def error(table: Table, nodes: list[Node]) -> float:
    return float(table.errors(nodes, 0, np.arange(len(table.observations))).mean())


def fitted(table: Table, nodes: list[Node]) -> list[Node]:
    return fit_rules(table, nodes, 0, np.arange(len(table.observations)))


def test_a_split_moves_to_the_right_feature_and_threshold() -> None:
    table = Table(pairs_of(KNOWN), ACTIONS, 2)
    wrong = fitted(table, [Split(1, -0.2, 1, 2), Leaf(()), Leaf(())])
    moved = with_moved_splits(table, wrong)
    root = moved[0]
    assert isinstance(root, Split)
    assert root.feature == 1
    assert root.threshold == pytest.approx(0.25, abs=0.01)
    assert error(table, moved) < 1e-4 < error(table, wrong)


def test_errors_are_those_of_the_policy() -> None:
    observations = pairs_of(KNOWN).observations
    other = np.tile([0.4, 0.7], (len(observations), 1))  # inside the limits
    half = np.array([action.half_range for action in ACTIONS])
    missed = (KNOWN.act_batch(observations) - other) / half
    table = Table(Pairs(observations, other), ACTIONS, 2)
    found = table.errors(KNOWN.nodes, 0, np.arange(len(observations)))
    assert found == pytest.approx((missed**2).sum(1))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_moving_never_adds_error_and_keeps_the_shape(size: int) -> None:
    rng = np.random.default_rng(size)
    observations = rng.uniform(-1, 1, (2000, 3)).astype(np.float32)
    wild = np.sin(5 * observations[:, :1]) * np.sign(observations[:, 1:2] - 0.3)
    table = Table(Pairs(observations, 2 * wild), ACTIONS[:1], size)
    nodes = fitted(
        table,
        [
            Split(2, 0.1, 1, 2),
            Split(0, 0.0, 3, 4),
            Split(0, 0.5, 5, 6),
            *(Leaf(()) for _ in range(4)),
        ],
    )
    moved = with_moved_splits(table, nodes)
    assert [type(node) for node in moved] == [type(node) for node in nodes]
    assert error(table, moved) < 0.97 * error(table, nodes)
