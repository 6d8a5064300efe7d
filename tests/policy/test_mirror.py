import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icct.envs.catalog import TASKS
from icct.errors import PolicyError
from icct.policy import Action, Policy
from icct.policy.mirror import Mirror, mirrored
from tests.random_policies import observations_around, random_policy


def symmetric(seed: int) -> Policy:
    policy = random_policy(seed, features=4, actions=2)
    actions = (Action("a0", "", -2, 2), Action("a1", "", -1, 3))
    return Policy("p", policy.features, actions, policy.nodes, policy.squash)


@given(seed=st.integers(0, 10**6))
def test_it_acts_as_the_policy_does_in_a_mirror(seed: int) -> None:
    policy = symmetric(seed)
    mirror = Mirror(negated=("x0", "a0"), swapped=(("x1", "x2"),))
    table = observations_around(policy, np.random.default_rng(seed), rows=200)
    seen = table[:, [0, 2, 1, 3]] * np.array([-1, 1, 1, 1])
    expected = policy.act_batch(seen) * np.array([-1, 1])
    np.testing.assert_allclose(mirrored(policy, mirror).act_batch(table), expected, atol=1e-9)


def test_limits_must_be_alike() -> None:
    with pytest.raises(PolicyError, match="a1 goes from -1 to 3"):
        mirrored(symmetric(0), Mirror(negated=("a1",)))


@pytest.mark.parametrize("task", [task for task in TASKS.values() if task.mirror])
def test_mirrors_of_the_tasks_name_what_exists(task) -> None:
    known = {part.name for part in (*task.features, *task.actions)}
    swapped = {name for pair in task.mirror.swapped for name in pair}
    assert {*task.mirror.negated, *swapped} <= known
    assert {task.name for task in TASKS.values() if task.mirror} == {
        "inverted-pendulum", "lunar-lander", "lane-keeping",
    }  # fmt: skip
