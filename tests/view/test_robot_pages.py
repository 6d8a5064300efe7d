"""The robots in the browser: the recorded page plays, the live one drives."""

import json
import re

import pytest

from icct.cli.main import main
from icct.robot.scene import robot_show
from icct.view.source import Source
from icct.zoo import zoo_policy
from tests.view.live import served

POLICY = zoo_policy("figure-eight-platoon")
AT_STEP = "step => document.getElementById('place').textContent.startsWith(`step ${step} `)"
LIT = "nodes => nodes.map(node => Number(node.dataset.node))"

pytestmark = pytest.mark.robot


def opened(browser, url):
    """Return a page, and what it complains about or fetches."""
    page, wrong = browser.new_page(viewport={"width": 1280, "height": 800}), []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(url)
    page.wait_for_selector(".node.lit")
    return page, wrong


def test_the_recorded_page_plays_with_the_path_lit(browser, tmp_path, capsys):
    path = tmp_path / "robots.html"
    assert main(["robot", "--steps", "120", "--no-drive-to-start", "-o", str(path)]) == 0
    assert "Your script will run on the Robotarium" in capsys.readouterr().out
    text = re.search(r"id='recording'>(.*?)</script>", path.read_text())[1]
    steps = json.loads(text)["runs"][0]["steps"]
    page, wrong = opened(browser, path.as_uri())
    try:
        page.click("#play")
        page.wait_for_function(AT_STEP, arg=120, timeout=30_000)
        for number in (0, 37, 81, 120):
            page.fill("#scrub", str(number))
            page.wait_for_function(AT_STEP, arg=number)
            lit = page.eval_on_selector_all(".node.lit", LIT)
            assert sorted(lit) == sorted(POLICY.path(steps[number]["observation"]))
        assert "mean speed of all" in page.inner_text("#scenes")
        assert wrong == []
    finally:
        page.close()


def test_the_live_page_shows_the_robots_drive(browser, tmp_path):
    with served(Source(robot_show(POLICY, steps=300), folder=tmp_path)) as server:
        page, wrong = opened(browser, server.url)
        try:
            page.click("#play")
            page.wait_for_function(
                "() => /^step [3-9][0-9] /.test(document.getElementById('place').textContent)",
                timeout=30_000,
            )
            assert "too close 0, outside 0" in page.inner_text("#scenes")
            assert wrong == []
        finally:
            page.close()
