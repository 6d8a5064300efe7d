"""The property files that ship, on a policy of each task."""

from pathlib import Path

import pytest

from icct.envs.catalog import TASKS
from icct.policy import Policy
from icct.policy.file import read_policy
from icct.verify import Refuted, check, read_properties
from icct.verify.property import shipped_tasks
from icct.zoo import FOLDER, zoo_names, zoo_policy

EARLY = "benchmarks/lander.json"  # crashes in one episode of five
ANSWERS = {  # policy → (task, what `icct verify` says of each property)
    "ring-cruiser": ("single-lane-ring", "proved proved proved refuted"),
    "lane-weaver": ("multi-lane-ring", "proved proved proved refuted"),
    "figure-eight-pacer": ("figure-eight", "proved proved proved refuted"),
    "figure-eight-platoon": ("figure-eight", "proved refuted refuted refuted"),
    "lane-keeper": ("lane-keeping", "proved proved proved proved refuted"),
    "pole-balancer": ("inverted-pendulum", "proved proved proved refuted"),
    EARLY: ("lunar-lander", "proved proved refuted refuted proved"),
}


def policy_of(name: str) -> Policy:
    return read_policy(Path(__file__).parents[2] / name) if name == EARLY else zoo_policy(name)


def test_every_task_has_properties() -> None:
    assert set(shipped_tasks()) == set(TASKS) == {task for task, _ in ANSWERS.values()}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_policy_of_each_task(name: str) -> None:
    task, expected = ANSWERS[name]
    policy, asked = policy_of(name), read_properties(task)
    assert policy.provenance.task == task
    answers = [check(policy, question) for question in asked]
    assert " ".join(answer.word for answer in answers) == expected
    for question, answer in zip(asked, answers, strict=True):
        assert question.why.endswith(".")
        if isinstance(answer, Refuted):
            acted = policy.act([value for _, value in answer.observation])
            named = dict(zip((a.name for a in policy.actions), map(float, acted), strict=True))
            assert not question.raw(policy).holds({**dict(answer.observation), **named})


OF_TASKS = [name for name in zoo_names() if name.split("/")[0] in shipped_tasks()]


@pytest.mark.parametrize("name", OF_TASKS)
def test_a_card_says_what_is_proved(name: str) -> None:
    """`icct bench zoo` writes the cards; a tree that is replaced by hand makes its card wrong."""
    asked = read_properties(name.split("/")[0])
    table = (FOLDER / f"{name}.md").read_text().partition("| property | |")[2]
    words = [line.rpartition("| ")[2].removesuffix(" |") for line in table.splitlines()[2:]]
    assert words == [check(zoo_policy(name), question).word for question in asked]
