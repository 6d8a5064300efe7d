"""Changes from the page: sound policies, exact consequences, new files only."""

from pathlib import Path

import pytest

from icct.errors import PolicyError
from icct.policy.file import read_policy
from icct.view.change import Change, consequences, edited_policy, save_new
from icct.view.message import MessageError, read_message
from icct.zoo import zoo_policy
from tests.view.worlds import walker


def test_numbers_are_in_physical_units() -> None:
    changes = [Change(0, 4.0), Change(4, 3.0, action=0, feature=0), Change(3, 1.0, action=0)]
    edited = edited_policy(walker(), changes)
    assert edited.split(0).threshold == pytest.approx(0.4)  # of 10 m
    assert edited.leaf(4).controllers[0].weights[0] == (
        0,
        pytest.approx(15.0),
    )  # 3 N/m x 10 m / 2 N
    assert edited.leaf(3).controllers[0].bias == pytest.approx(0.5)  # of 2 N


def test_what_goes_into_a_tanh_has_no_unit() -> None:
    policy = zoo_policy("lunar-lander/icct-2-feature")
    leaf = policy.leaves[0]
    edited = edited_policy(policy, [Change(leaf, 0.25, action=0)])
    assert edited.leaf(leaf).controllers[0].bias == 0.25


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Change(1, 1.0), "has no threshold"),
        (Change(99, 1.0), "has no node 99"),
        (Change(0, 1.0, action=0), "has no rules"),
        (Change(3, 1.0, action=7), "there is no action 7"),
        (Change(3, 1.0, action=0, feature=9), "there is no feature 9"),
        (Change(0, 1e308 * 10), "threshold"),
    ],
)
def test_what_makes_no_sense_is_refused(change: Change, why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        edited_policy(walker(), [change])


def test_the_consequences_are_exact_and_speak_of_the_step_shown() -> None:
    policy = walker()
    edited = edited_policy(policy, [Change(3, -0.2, action=0)])  # newtons, was -0.8
    found = consequences(policy, edited, (), [0.9, -0.5])
    assert found["bounds"] == ["push changes by at most 0.6 N"]
    assert found["here"] == {"before": [-0.4], "after": [-0.1], "path": [0, 2, 3]}
    assert consequences(policy, policy, (), None)["bounds"] == ["push does not change"]


def test_no_file_is_ever_overwritten(tmp_path: Path) -> None:
    path = save_new(walker(), tmp_path, "mine")
    assert read_policy(path) == walker()
    before = path.read_bytes()
    with pytest.raises(PolicyError, match="exists already"):
        save_new(zoo_policy("lunar-lander/icct-2-feature"), tmp_path, "mine.json")
    assert path.read_bytes() == before
    for name in ("../mine.json", "/tmp/mine.json", "", ".hidden", "a/b", "x" * 200, "a\x00b"):
        with pytest.raises(PolicyError, match="no name for a file"):
            save_new(walker(), tmp_path, name)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"type": 3}',
        '{"type": "renew"}',  # of the server's own
        '{"type": "seek"}',
        '{"type": "seek", "step": -1}',
        '{"type": "seek", "step": true}',
        '{"type": "seek", "step": 1, "more": 2}',
        '{"type": "speed", "value": 0}',
        '{"type": "speed", "value": NaN}',
        '{"type": "reset", "seed": 1e3}',
        '{"type": "edit", "changes": [{"node": 1}]}',
        '{"type": "edit", "changes": [{"node": 1, "value": 2, "feature": 0}]}',
        '{"type": "edit", "changes": [{"node": 1, "value": "2"}]}',
        '{"type": "save", "name": ["x"]}',
        '{"type": "play"' + " " * 70_000 + "}",
    ],
)
def test_a_page_would_not_send_that(text: str) -> None:
    with pytest.raises(MessageError):
        read_message(text)
