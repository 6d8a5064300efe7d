"""The property files that ship, on a policy of each task."""

import pytest

from icct.envs.catalog import TASKS
from icct.verify import Refuted, check, read_properties
from icct.verify.property import shipped_tasks
from icct.zoo import zoo_policy

ANSWERS = {  # policy → (task, what `icct verify` says of each property)
    "ring-cruiser": ("single-lane-ring", "proved proved proved refuted"),
    "lane-weaver": ("multi-lane-ring", "proved proved proved refuted"),
    "figure-eight-pacer": ("figure-eight", "proved proved proved refuted"),
    "figure-eight-platoon": ("figure-eight", "proved refuted refuted refuted"),
    "lane-keeper": ("lane-keeping", "proved proved proved proved refuted"),
    "pole-balancer": ("inverted-pendulum", "proved proved proved refuted"),
    "lander": ("lunar-lander", "proved proved refuted refuted proved"),
}


def test_every_task_has_properties() -> None:
    assert set(shipped_tasks()) == set(TASKS) == {task for task, _ in ANSWERS.values()}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_policy_of_each_task(name: str) -> None:
    task, expected = ANSWERS[name]
    policy, asked = zoo_policy(name), read_properties(task)
    assert policy.provenance.task == task
    answers = [check(policy, question) for question in asked]
    assert " ".join(answer.word for answer in answers) == expected
    for question, answer in zip(asked, answers, strict=True):
        assert question.why.endswith(".")
        if isinstance(answer, Refuted):
            acted = policy.act([value for _, value in answer.observation])
            named = dict(zip((a.name for a in policy.actions), map(float, acted), strict=True))
            assert not question.holds({**dict(answer.observation), **named})
