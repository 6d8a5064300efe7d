"""The exported C gives the bits of `act` under every compiler, level and processor we can reach."""

import itertools
import platform
import shutil
from pathlib import Path

import numpy as np
import pytest

from icct.export import export_python
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from tests.export.compiled import needs, run_c, run_python, same_bits
from tests.random_policies import observations_around, random_policy

LEVELS = ("-O0", "-O2", "-O3")
FUSING = "-march=x86-64-v3"  # with instructions that multiply and add at once
COMPILERS = ("gcc", "clang")


def can_fuse() -> bool:
    about = Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and about.exists() and " fma " in about.read_text()


def opposed_policy(seed: int, squash: str) -> Policy:
    """Return two actions that use the same weights, often with opposite signs.

    gcc 12 joins such a pair into one vector and then fuses, whatever it is told about fusing.
    """
    rng = np.random.default_rng(seed)

    def leaf() -> Leaf:
        used = [int(f) for f in rng.choice(4, size=rng.integers(1, 5), replace=False)]
        weights = rng.normal(size=len(used))
        signs = rng.choice([-1.0, 1.0], size=len(used))
        return Leaf(
            tuple(
                Controller(tuple(zip(used, some.tolist(), strict=True)), float(rng.normal()))
                for some in (weights, weights * signs)
            )
        )

    splits = (Split(0, 0.1, 1, 2), Split(1, 0.2, 3, 4), Split(2, -0.3, 5, 6))
    features = tuple(Feature(f"x{i}", "", -3, 3) for i in range(4))
    actions = (Action("left", "", -2, 2), Action("right", "", -2, 2))
    return Policy("opposed", features, actions, (*splits, *(leaf() for _ in range(4))), squash)


def some_policies(seeds: range) -> list[Policy]:
    opposed = [opposed_policy(seed, ("clip", "none")[seed % 2]) for seed in seeds]
    return opposed + [random_policy(seed, features=5, leaves=6) for seed in seeds[::2]]


def check_bits(policy: Policy, compiler: str, flags: tuple[str, ...], folder: Path) -> None:
    table = observations_around(policy, np.random.default_rng(0), 500)
    leaves, actions = policy.leaves_of(table), policy.act_batch(table)
    if policy.squash == "tanh":  # the one of exported code is not numpy's
        leaves, actions = run_python(export_python(policy), table)
    folder.mkdir()
    found_leaves, found = run_c(policy, table, folder, compiler, flags=flags)
    assert np.array_equal(found_leaves, leaves)
    assert same_bits(found, actions)


@pytest.mark.skipif(not can_fuse(), reason="this processor does not multiply and add at once")
@pytest.mark.parametrize("standard", ["c99", "gnu99"])  # gcc fuses by default with gnu99
@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_nothing_is_fused(compiler: str, level: str, standard: str, tmp_path: Path) -> None:
    for number, policy in enumerate(some_policies(range(4))):
        flags = (level, FUSING, f"-std={standard}")
        check_bits(policy, compiler, flags, tmp_path / str(number))


def test_a_small_compiler(tmp_path: Path) -> None:
    for number, policy in enumerate(some_policies(range(4))):
        check_bits(policy, "tcc", (), tmp_path / str(number))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("compiler", [*COMPILERS, "tcc"])
def test_100_policies_at_every_level(compiler: str, tmp_path: Path) -> None:
    needs(compiler)
    machines = [(), (FUSING,)] if can_fuse() and compiler in COMPILERS else [()]
    ways = [(level, *machine) for level, machine in itertools.product(LEVELS, machines)]
    policies = some_policies(range(100, 180))
    assert sum(policy.squash != "tanh" for policy in policies) > 100
    for number, policy in enumerate(policies):
        for way in ways:
            folder = tmp_path / f"{number}{''.join(way)}"
            check_bits(policy, compiler, way, folder)
            shutil.rmtree(folder)
