"""Zeros keep their sign, and the smallest limits are not lost, in every export."""

from pathlib import Path

import numpy as np
import pytest

from icct.export import export_onnx, export_python
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from tests.export.compiled import run_c, run_onnx, run_python, same_bits, ulps_apart

SMALL = (0.0, -0.0, 5e-324, -5e-324, 1e-308, 2e-308, -2e-308, 2.3e-308, 1e-300, 1.0, -1.0, 1.5)


def small_policy(seed: int, squash: str) -> Policy:
    """Return a policy whose thresholds, weights, biases and limits are such numbers."""
    rng = np.random.default_rng(seed)

    def draw() -> float:
        return float(rng.choice(SMALL))

    def rule() -> Controller:
        used = rng.choice(3, size=rng.integers(0, 4), replace=False)
        return Controller(tuple((int(feature), draw()) for feature in used), draw())

    count = int(rng.integers(1, 3))
    limits = [sorted((draw(), draw())) for _ in range(count)]
    return Policy(
        "small",
        tuple(Feature(name) for name in "xyz"),
        tuple(Action(f"u{i}", "", low, high) for i, (low, high) in enumerate(limits)),
        (Split(0, draw(), 1, 2), *(Leaf(tuple(rule() for _ in range(count))) for _ in range(2))),
        squash,
    )


@pytest.mark.parametrize("squash", ["clip", "none", "tanh"])
def test_the_smallest_numbers(squash: str, tmp_path: Path) -> None:
    table = np.random.default_rng(0).choice(SMALL, (60, 3))
    for seed in range(30):
        policy = small_policy(seed, squash)
        leaves, actions = policy.leaves_of(table), policy.act_batch(table)
        assert same_bits(actions, np.array([policy.act(row) for row in table]))
        found = [run_python(export_python(policy), table), run_onnx(export_onnx(policy), table)]
        if seed < 6:
            (tmp_path / str(seed)).mkdir()
            found.append(run_c(policy, table, tmp_path / str(seed)))
        for found_leaves, found_actions in found:
            assert np.array_equal(found_leaves, leaves)
            assert ulps_apart(policy, found_actions, actions) <= 2
            assert squash == "tanh" or same_bits(found_actions, actions)


@pytest.mark.parametrize("limit", [2e-308, 1e-300, 1e-46, 1 + 1e-9])
def test_onnxruntime_does_not_take_a_limit_for_0_or_1(limit: float) -> None:
    table = np.array([[-1.0], [0.0], [0.3]])
    for low in (0.0, -limit):
        policy = Policy(
            "p",
            (Feature("x"),),
            (Action("u", "", low, limit),),
            (Leaf((Controller(((0, 1.0),), 0.1),)),),
        )
        _, actions = run_onnx(export_onnx(policy), table)
        assert ulps_apart(policy, actions, policy.act_batch(table)) <= 2
