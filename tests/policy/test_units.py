"""A policy in physical units acts as the policy itself, in those units."""

from dataclasses import replace

import numpy as np
import pytest

from icct.policy.quantity import physical_unit
from icct.policy.units import in_physical_units
from tests.random_policies import random_policy

UNITS = ("x 30 m/s", "x 0.5 m", "rad", "", "0 or 1", "x lane 2")


@pytest.mark.parametrize("seed", range(12))
def test_the_same_path_and_the_same_action(seed: int) -> None:
    plain = random_policy(seed)
    policy = replace(
        plain,
        features=tuple(replace(f, unit=UNITS[i % 6]) for i, f in enumerate(plain.features)),
        actions=tuple(replace(a, unit=UNITS[(i + seed) % 3]) for i, a in enumerate(plain.actions)),
    )
    physical = in_physical_units(policy)
    features, actions = ([p.scale for p in parts] for parts in (policy.features, policy.actions))
    rng = np.random.default_rng(seed)
    for observation in rng.uniform(-3, 3, (200, len(policy.features))):
        seen = observation * features
        assert physical.path(seen) == policy.path(observation)
        expected = policy.act(observation) * actions
        assert physical.act(seen) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_units_without_a_number_stay() -> None:
    for unit in ("m", "", "x lane 2", "0 or 1", "x 0 m", "x m"):
        assert physical_unit(unit) == (1.0, unit)
