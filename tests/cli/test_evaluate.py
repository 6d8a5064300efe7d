import json

import pytest

from icct.cli.main import main


def run(capsys, *words):
    status = main(["evaluate", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_text(capsys):
    words = ("driver:random", "--task", "inverted-pendulum", "--episodes", "4")
    status, out, err = run(capsys, *words)
    assert status == 0
    assert out.startswith("driver:random on inverted-pendulum: 4 episodes, seed 0\n  return ")
    assert err == ""  # no terminal, and too quick for a line of progress


def test_json_is_the_same_with_workers(capsys):
    words = ("driver:random", "--task", "lunar-lander", "--episodes", "4", "--json")
    _, alone, _ = run(capsys, *words)
    status, shared, _ = run(capsys, *words, "--workers", "2")
    assert status == 0
    assert shared == alone
    assert len(json.loads(alone)["returns"]) == 4


def test_options_of_the_task(capsys):
    words = ("driver:linear-steering", "--task", "lane-keeping", "--episodes", "1", "--json")
    _, rk4, _ = run(capsys, *words)
    _, euler, _ = run(capsys, *words, "--option", "integrator=euler")
    assert json.loads(rk4)["mean"] != json.loads(euler)["mean"]


def test_video(capsys, tmp_path):
    path = tmp_path / "pole.gif"
    words = ("driver:random", "--task", "inverted-pendulum", "--episodes", "1")
    status, _, _ = run(capsys, *words, "--video", str(path))
    assert status == 0
    assert path.read_bytes().startswith(b"GIF")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("driver:random", "--task", "lunar"), "There is no task 'lunar'"),
        (("driver:randm", "--task", "lunar-lander"), "Did you mean 'random'?"),
        (("driver:random", "--task", "lunar-lander", "--video", "a.avi"), "a.avi: a video ends in"),
        (("driver:random", "--task", "lunar-lander", "--option", "wind"), "expected NAME=VALUE"),
        (("driver:random", "--task", "lunar-lander", "--option", "wind=1"), "has no option 'wind'"),
        (("driver:random", "--task", "lunar-lander", "--episodes", "0"), "episodes is 0"),
    ],
)
def test_wrong_use(capsys, words, message):
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.sumo
def test_a_shipped_policy_reports_its_leaves(capsys):
    words = ("zoo:ring-cruiser", "--task", "single-lane-ring", "--episodes", "1", "--json")
    status, out, _ = run(capsys, *words)
    assert status == 0
    assert sum(json.loads(out)["leaf_visits"].values()) == 750


def test_a_policy_for_another_task_is_refused(capsys):
    status, _, err = run(capsys, "zoo:ring-cruiser", "--task", "lunar-lander")
    assert status == 2
    assert "does not fit task lunar-lander" in err


def test_a_missing_file_is_named(capsys):
    status, _, err = run(capsys, "nowhere.json", "--task", "lunar-lander")
    assert status == 2
    assert "nowhere.json" in err
