"""Every export acts as the policy: the same leaf always, the action to the last digits."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from icct.export import export_c, export_onnx, export_python
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.file import read_policy
from icct.zoo import zoo_policy
from tests.export.compiled import (
    STRICT,
    needs,
    run_c,
    run_onnx,
    run_python,
    same_bits,
    ulps_apart,
    write_c,
)
from tests.random_policies import observations_around, random_policy
from tests.shipped import SOME

ULPS = {"tanh": 2, "clip": 0, "none": 0}  # only tanh is computed in another way
FLOAT32 = 1e-6
RESULTS = Path(__file__).parents[2] / "results"
TRAINED = sorted([*RESULTS.glob("policies/*"), *RESULTS.glob("earlier-preset/policies/*")])


def check_exact(policy: Policy, rows: int, folder: Path) -> None:
    table = observations_around(policy, np.random.default_rng(1), rows)
    leaves, actions = policy.leaves_of(table), policy.act_batch(table)
    python = run_python(export_python(policy), table)
    onnx = run_onnx(export_onnx(policy), table)
    for found_leaves, found_actions in (python, onnx):
        assert np.array_equal(found_leaves, leaves)
        assert ulps_apart(policy, found_actions, actions) <= ULPS[policy.squash]
        assert policy.squash == "tanh" or same_bits(found_actions, actions)
    c = run_c(policy, table, folder)  # last: without a compiler the rest is still checked
    assert np.array_equal(c[0], leaves)
    assert same_bits(c[1], python[1])


def check_float(policy: Policy, rows: int, folder: Path) -> None:
    table = observations_around(policy, np.random.default_rng(2), rows)
    for index in policy.splits:  # thresholds one float32 aside, and the floats next to them
        split = policy.nodes[index]
        near = np.float32(split.threshold)
        around = [near, np.nextafter(near, np.float32(9e9)), np.nextafter(near, -np.float32(9e9))]
        chosen = np.random.default_rng(index).random(rows) < 0.3
        table[chosen, split.feature] = np.resize(around, chosen.sum())
    table = table.astype(np.float32)
    leaves, actions = policy.leaves_of(table), policy.act_batch(table)
    size = np.maximum(magnitude(policy, table), np.abs(actions))
    c = run_c(policy, table, folder, precision="float")
    onnx = run_onnx(export_onnx(policy, "float"), table)
    for found_leaves, found_actions in (c, onnx):
        assert np.array_equal(found_leaves, leaves)
        assert np.all(np.abs(found_actions - actions) <= FLOAT32 * size)


def magnitude(policy: Policy, table: np.ndarray) -> np.ndarray:
    """Return the size of the terms that each action is made of, to measure rounding by."""
    out = np.empty((len(table), len(policy.actions)))
    reached = policy.leaves_of(table)
    for leaf in policy.leaves:
        rows = table[reached == leaf].astype(np.float64)
        for position, rule in enumerate(policy.nodes[leaf].controllers):
            terms = [np.abs(w * rows[:, f]) for f, w in rule.weights]
            out[reached == leaf, position] = abs(rule.bias) + sum(terms)
    if policy.squash == "tanh":
        scale = np.array([action.half_range for action in policy.actions])
        centre = np.array([abs(action.centre) for action in policy.actions])
        # tanh is nowhere steeper than 1, and never above 1.
        out = scale * (np.minimum(out, 40.0) + 1.0) + centre
    return np.maximum(out, 1e-30)


@pytest.mark.parametrize("seed", range(12))
def test_random_policies(seed: int, tmp_path: Path) -> None:
    check_exact(random_policy(seed, bounded=seed % 2 == 0), 1000, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_random_policies_in_float(seed: int, tmp_path: Path) -> None:
    check_float(random_policy(seed), 1000, tmp_path)


@pytest.mark.parametrize("name", SOME)
def test_shipped_policies(name: str, tmp_path: Path) -> None:
    check_exact(zoo_policy(name), 1000, tmp_path)
    check_float(zoo_policy(name), 1000, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("tens", range(20))
def test_200_random_policies(tens: int, tmp_path: Path) -> None:
    for seed in range(1000 + 10 * tens, 1010 + 10 * tens):
        check_exact(random_policy(seed), 100_000, tmp_path)
        check_float(random_policy(seed), 100_000, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", SOME)
def test_shipped_policies_at_length(name: str, tmp_path: Path) -> None:
    check_exact(zoo_policy(name), 100_000, tmp_path)
    check_float(zoo_policy(name), 100_000, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_trained_policies_at_length(path: Path, tmp_path: Path) -> None:
    check_exact(read_policy(path), 100_000, tmp_path)
    check_float(read_policy(path), 100_000, tmp_path)


def test_what_act_refuses_is_refused(tmp_path: Path) -> None:
    overflow = Leaf((Controller(((0, 1e300), (1, -1e300)), 0.0),))
    policy = Policy(
        "p",
        (Feature("a"), Feature("b")),
        (Action("u"),),
        (Split(0, 0.0, 1, 2), Leaf((Controller(),)), overflow),
    )
    table = np.array([[np.nan, 0], [1, np.inf], [-np.inf, 0], [1e300, 1e300], [1.0, 1.0]])
    leaves, actions = run_c(policy, table, tmp_path)
    assert leaves.tolist() == [-1, -1, -1, -1, 2]
    assert np.isnan(actions[:4]).all()  # as they were before
    leaves, actions = run_onnx(export_onnx(policy), table)
    assert leaves.tolist() == [-1, -1, -1, -1, 2]
    assert np.isnan(actions[:4]).all()
    for row in table[:4]:
        with pytest.raises(ValueError, match=r"finite|too large"):
            run_python(export_python(policy), row[None])
    with pytest.raises(ValueError, match="2 numbers"):
        run_python(export_python(policy), np.zeros((1, 3)))


def test_an_overflow_that_the_squash_catches_is_acted_on(tmp_path: Path) -> None:
    policy = Policy(
        "p", (Feature("a"),), (Action("u"),), (Leaf((Controller(((0, 1e300),), 0.0),)),)
    )
    table = np.array([[1e300], [-1e300]])
    for leaves, actions in (
        run_c(policy, table, tmp_path),
        run_python(export_python(policy), table),
        run_onnx(export_onnx(policy), table),
    ):
        assert leaves.tolist() == [0, 0]
        assert actions[:, 0].tolist() == policy.act_batch(table)[:, 0].tolist() == [1.0, -1.0]


def run_program(policy: Policy, table: np.ndarray, folder: Path, build: list[str], run: list[str]):
    """Return the leaves and actions that the generated program prints."""
    write_c(export_c(policy, "tried"), folder)
    command = [*build, "tried.c", "tried_main.c", "-o", "tried"]
    subprocess.run(command, cwd=folder, check=True)
    text = "\n".join(" ".join(map(repr, row)) for row in table.tolist())
    out = subprocess.run(
        [*run, str(folder / "tried")], input=text, capture_output=True, text=True, check=True
    ).stdout
    found = np.array([[float(word) for word in line.split()] for line in out.splitlines()])
    return found[:, 0], found[:, 1:]


def test_the_generated_program(tmp_path: Path) -> None:
    policy = zoo_policy("lane-weaver")
    table = observations_around(policy, np.random.default_rng(0), 20)
    leaves, actions = run_program(policy, table, tmp_path, [needs("gcc"), *STRICT], [])
    assert np.array_equal(leaves, policy.leaves_of(table))
    assert np.array_equal(actions, policy.act_batch(table))


@pytest.mark.parametrize("standard", ["c99", "gnu99"])
def test_another_processor_gives_the_same_bits(standard: str, tmp_path: Path) -> None:
    # Every ARM of 64 bits can fuse products and sums, and gcc does by default with gnu99.
    build = [needs("aarch64-linux-gnu-gcc"), *STRICT, "-O2", "-static", f"-std={standard}"]
    for seed in (3, 7, 11):
        policy = random_policy(seed, features=5, leaves=6)
        table = observations_around(policy, np.random.default_rng(0), 500)
        found = run_program(policy, table, tmp_path, build, [needs("qemu-aarch64-static")])
        for one, other in zip(found, run_python(export_python(policy), table), strict=True):
            assert np.array_equal(one, other)
