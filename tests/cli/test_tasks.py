import json

from icct.cli.main import main
from icct.envs.catalog import TASKS


def test_the_table(capsys):
    assert main(["tasks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(TASKS)
    assert lines[0].split()[:3] == ["task", "id", "simulator"]
    expected = "figure-eight icct/FigureEight-v1 SUMO 28 acceleration 1500 990 to 1114"
    assert " ".join(lines[6].split()) == expected


def test_one_task_in_full(capsys):
    assert main(["tasks", "lunar-lander"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("lunar-lander: Land between the flags")
    assert "left_leg_contact   0" in out
    assert "side_engine  -1   1     throttle" in out


def test_json(capsys):
    assert main(["tasks", "--json"]) == 0
    tasks = json.loads(capsys.readouterr().out)
    assert [task["name"] for task in tasks] == list(TASKS)
    assert tasks[0]["features"][1]["name"] == "pole_angle"


def test_an_unknown_task(capsys):
    assert main(["tasks", "figure-ate"]) == 2
    assert "Did you mean 'figure-eight'?" in capsys.readouterr().err
