"""The paper's recipe, where it is not in the paper: as the authors' released setup has it."""

import pytest

from icct.bench.tables import TASK_ORDER
from icct.learn.config import make_config
from icct.methods import METHODS

TRAFFIC = ("single-lane-ring", "multi-lane-ring", "figure-eight")


@pytest.mark.parametrize("method", [m for m, t in METHODS.items() if t.leaf_features <= 4])
@pytest.mark.parametrize("task", TASK_ORDER)  # the pendulum has four features
def test_every_node_of_a_tree_has_its_own_sharpness(task: str, method: str) -> None:
    assert make_config(task, method).shape.sharpness == "per_node"


@pytest.mark.parametrize("method", ["icct-2-feature", "mlp-max"])
@pytest.mark.parametrize("task", TASK_ORDER)
def test_random_steps_before_learning(task: str, method: str) -> None:
    assert make_config(task, method).learning.learning_starts == (
        5_000 if task in TRAFFIC else 10_000
    )
