"""`icct view` and `icct record` as a user calls them."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from PIL import Image

from icct.cli.main import main
from icct.zoo import zoo_policy

pytest.importorskip("uvicorn")
POLE = ("zoo:pole-balancer", "--task", "inverted-pendulum")


def test_a_page_of_an_episode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "episode.html"
    assert main(["record", *POLE, "--seed", "3", "--steps", "12", "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    found = re.search(r"id='recording'>(.*?)</script>", out.read_text(encoding="utf-8"), re.S)
    recording = json.loads(found[1])
    (run,) = recording["runs"]
    assert (recording["format"], recording["version"], run["seed"]) == ("icct-episode", 1, 3)
    assert [step["step"] for step in run["steps"]] == list(range(13))
    policy = zoo_policy("pole-balancer")
    for step in run["steps"]:
        assert step["path"] == list(policy.path(step["observation"]))
        assert step["action"] == policy.act(step["observation"]).tolist()
    assert run["steps"][-1]["return"] == 12.0


@pytest.mark.sumo
def test_a_film_of_an_episode(tmp_path: Path) -> None:
    for words in (POLE, ("zoo:ring-cruiser",)):  # by pictures, and by a stage
        out = tmp_path / "episode.gif"
        assert main(["record", *words, "--steps", "3", "-o", str(out)]) == 0
        with Image.open(out) as film:
            assert film.n_frames >= 2
            assert film.size == (1040, 440)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-o", "episode.avi"], "ends in .html, .mp4 or .gif"),
        (["--seed", "-1", "-o", "x.html"], "--seed is 0 or more"),
        (["--task", "lunar-lander", "-o", "x.html"], "lunar-lander"),
    ],
)
def test_wrong_use_of_record(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "zoo:pole-balancer", *words]) == 2
    assert why in capsys.readouterr().err


def test_view_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "icct.cli.main", "view", *POLE, "--no-browser"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    viewer = subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    )
    try:
        url = viewer.stderr.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", url)
        with urllib.request.urlopen(url) as page:
            assert b"<title>pole-balancer</title>" in page.read()
        viewer.send_signal(signal.SIGINT)
        assert viewer.wait(20) == 0
        assert viewer.stderr.read() == "Ctrl-C ends it.\n"
    finally:
        viewer.kill()
        viewer.stderr.close()
        viewer.wait()


def test_view_of_a_folder_without_a_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(tmp_path)]) == 2
    assert "there is no policy in it yet" in capsys.readouterr().err
