"""The live page in a real browser, with real simulators."""

import functools
import random
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn")

from icct.envs.catalog import SINGLE_LANE_RING
from icct.policy import Controller, Leaf, Policy, Provenance, Split
from icct.policy.file import read_policy, write_policy
from icct.verify import Property
from icct.view.folder import FolderSource
from icct.view.recording import record, recording_page
from icct.view.show import Show
from icct.view.source import Source
from icct.view.task_simulation import task_show
from icct.zoo import zoo_policy
from tests.export.hostile import NASTY, hostile_policy
from tests.view.live import served
from tests.view.worlds import Wander, walker, wandering

LIT = "all => all.map(e => Number(e.dataset.node)).sort((a, b) => a - b)"


class Tab:
    """A page that must say nothing on the console and fetch nothing from elsewhere."""

    def __init__(self, browser, url: str, **options) -> None:
        self.page = browser.new_page(viewport={"width": 1280, "height": 800}, **options)
        self.said: list[str] = []
        self.fetched: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda asked: self.fetched.append(asked.url))
        self.page.on("websocket", lambda socket: self.fetched.append(socket.url))
        self.page.goto(url)
        self.at_step(0)
        self.place = urlsplit(url).netloc

    def at_step(self, step: int) -> None:
        self.page.locator(f"#app[data-step='{step}']").wait_for(timeout=30_000)

    def lit(self) -> list[int]:
        return self.page.eval_on_selector_all(".node.lit", LIT)

    def close(self) -> None:
        self.page.close()
        assert self.said == []
        assert {urlsplit(url).netloc for url in self.fetched} == {self.place}


def leafy(leaves: int = 16) -> Policy:
    """Return a full tree over speeds of the ring, with thresholds that are crossed all the time."""
    rng = random.Random(1)
    names = [i for i, f in enumerate(SINGLE_LANE_RING.features) if f.name.startswith("speed")]
    nodes: list[Split | Leaf] = []

    def grow(inside: int) -> int:
        place = len(nodes)
        weights = {rng.choice(names): 2.0, 21: -9.0}  # 21 is the ego's own speed
        nodes.append(Leaf((Controller(tuple(weights.items()), rng.uniform(0, 1)),)))
        if inside > 1:
            feature, threshold = rng.choice(names), rng.uniform(0.09, 0.13)
            nodes[place] = Split(feature, threshold, grow(inside // 2), grow(inside // 2))
        return place

    grow(leaves)
    task = SINGLE_LANE_RING
    origin = Provenance(task=task.name)
    return Policy("leafy", task.features, task.actions, tuple(nodes), "clip", origin)


def test_a_person_watches_edits_and_saves(browser, tmp_path: Path) -> None:
    limit = Property("when gap > 0.9 and speed > 0 then push <= 0.1", "eases-off", "comfort")
    source = Source(wandering(properties=[limit]), seed=5, folder=tmp_path)
    with served(source) as server:
        tab = Tab(browser, server.url)
        page = tab.page
        page.click("#step")
        tab.at_step(1)
        page.keyboard.press("ArrowRight")
        tab.at_step(2)
        page.keyboard.press("ArrowLeft")
        tab.at_step(1)
        page.select_option("#speed", "1000")
        page.keyboard.press("Space")
        page.locator("#play", has_text="Pause").wait_for()
        tab.at_step(400)
        page.locator("#play", has_text="Play").wait_for()
        page.locator("#scrub").fill("37")
        tab.at_step(37)
        assert page.input_value("#seed") == "5"
        assert "Time is up" not in page.inner_text("#scenes")

        page.click('#tree-place [data-node="0"]')
        page.get_by_label("“yes” up to").fill("3.5")  # metres: the raw threshold is 0.35
        page.keyboard.press("Enter")
        effect = page.locator("#editor .effect")
        effect.get_by_text("Push changes by at most").wait_for()
        assert re.search(r"eases-off: proved", effect.inner_text())
        page.click("#compare")
        page.locator(".scene").nth(1).wait_for()
        tab.at_step(0)
        assert "≤ 3.50 m" in page.inner_text("#tree-place")
        page.click("#save")
        page.locator("#notice", has_text="Saved as").wait_for()
        page.click("#save")
        page.locator("#notice", has_text="exists already").wait_for()
        page.click("#undo")
        page.locator(".scene").nth(1).wait_for(state="detached")
        tab.close()
    saved = read_policy(tmp_path / "walker-edited.json")
    assert saved.split(0).threshold == pytest.approx(0.35)
    assert saved.split(2) == walker().split(2)
    assert saved.provenance.history == ("edited: split 0: threshold 0.5 becomes 0.35 (5 to 3.5 m)",)
    assert source.show.policy == walker()


@pytest.mark.sumo
def test_the_lit_path_is_that_of_the_policy(browser) -> None:
    policy = leafy()
    with served(Source(task_show(policy, SINGLE_LANE_RING))) as server:
        tab = Tab(browser, server.url)
        tab.page.select_option("#speed", "1000")
        tab.page.click("#play")
        tab.at_step(750)
        steps = random.Random(2).sample(range(751), 200)
        shown = tab.page.evaluate(
            """async (steps) => {
                const [scrub, app] = ["scrub", "app"].map((id) => document.getElementById(id));
                const drawn = () => new Promise(requestAnimationFrame), seen = [];
                for (const step of steps) {
                    scrub.value = step;
                    scrub.dispatchEvent(new Event("input"));
                    while (Number(app.dataset.step) !== step) await drawn();
                    const lit = [...document.querySelectorAll(".node.lit")];
                    const edges = [...document.querySelectorAll(".edge.lit")];
                    seen.push({ lit: lit.map((e) => Number(e.dataset.node)),
                        edges: edges.map((e) => Number(e.dataset.child)),
                        observation: icctView.state.frame.steps[0].observation });
                }
                return seen;
            }""",
            steps,
        )
        tab.close()
    paths = set()
    for one in shown:
        path = policy.path(one["observation"])
        assert sorted(one["lit"]) == sorted(path)
        assert sorted(one["edges"]) == sorted(path[1:])
        paths.add(path)
    assert len(shown) == 200
    assert len(paths) > 5  # else the test says little


def test_a_recording_plays_by_itself(browser, tmp_path: Path) -> None:
    policy = zoo_policy("pole-balancer")
    from icct.envs.catalog import INVERTED_PENDULUM

    recording = record(task_show(policy, INVERTED_PENDULUM), 3, steps=40)
    file = tmp_path / "episode.html"
    file.write_text(recording_page(recording), encoding="utf-8")
    tab = Tab(browser, file.as_uri(), color_scheme="dark")
    assert not tab.page.locator("#open-editor").is_visible()
    assert not tab.page.locator("#episode").is_visible()
    tab.page.keyboard.press("Space")
    tab.at_step(40)
    steps = recording["runs"][0]["steps"]
    for step in (0, 17, 40):
        tab.page.locator("#scrub").fill(str(step))
        tab.at_step(step)
        assert tab.lit() == sorted(policy.path(steps[step]["observation"]))
    assert tab.page.locator("img.picture").get_attribute("src").startswith("data:image/jpeg")
    assert tab.page.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.page.click("#theme")
    assert tab.page.evaluate("document.documentElement.dataset.theme") == "light"
    tab.close()


def test_names_that_try_to_break_out(browser, tmp_path: Path) -> None:
    policy = hostile_policy()
    make = functools.partial(Wander, features=len(policy.features))
    file = tmp_path / "episode.html"
    recording = record(Show(policy, make, NASTY), 1, steps=3)
    file.write_text(recording_page(recording), encoding="utf-8")
    tab = Tab(browser, file.as_uri())
    assert tab.page.inner_text("h1") == policy.name
    assert tab.page.evaluate("window.broken") is None
    width = tab.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 1280  # names of 200 letters are cut or wrapped
    tab.close()


def test_a_run_folder_shows_its_newest_policy(browser, tmp_path: Path) -> None:
    policies = tmp_path / "run" / "policies"
    policies.mkdir(parents=True)
    write_policy(zoo_policy("pole-balancer"), policies / "seed-0.best.json")

    def show(policy):
        from icct.envs.catalog import INVERTED_PENDULUM

        return task_show(policy, INVERTED_PENDULUM)

    source = FolderSource(tmp_path / "run", show, folder=tmp_path)
    with served(source) as server:
        tab = Tab(browser, server.url)
        assert "seed-0.best.json" in tab.page.inner_text("#world")
        smaller = zoo_policy("pole-balancer")
        origin = Provenance(method="m", seed=7)
        renamed = Policy(
            "newer", smaller.features, smaller.actions, (smaller.nodes[-1],), provenance=origin
        )
        write_policy(renamed, policies / "seed-1.best.json")
        tab.page.locator("h1", has_text="newer").wait_for(timeout=20_000)
        assert "seed-1.best.json" in tab.page.inner_text("#world")
        rows = [f"{step},m,7,score,{step / 10}" for step in range(20)]
        (tmp_path / "run" / "metrics.csv").write_text("\n".join(rows), encoding="utf-8")
        tab.page.get_by_text("training: evaluation score").wait_for()
        tab.close()


def test_nothing_is_cut_off(browser) -> None:
    with served(Source(wandering())) as server:
        tab = Tab(browser, server.url)
        for width, height in ((1280, 800), (1024, 768), (768, 1024)):
            tab.page.set_viewport_size({"width": width, "height": height})
            tab.page.wait_for_timeout(200)
            outside = tab.page.evaluate(
                """() => [...document.querySelectorAll("button, select, input, h1, svg, canvas")]
                    .filter((e) => { const b = e.getBoundingClientRect();
                        return b.width && (b.left < -1 || b.right > innerWidth + 1); })
                    .map((e) => e.id || e.outerHTML.slice(0, 80))"""
            )
            assert outside == [], width
            if width > 900:  # one page, without scrolling
                assert tab.page.evaluate("document.documentElement.scrollHeight") <= height
        tab.close()


@pytest.mark.slow
@pytest.mark.sumo
@pytest.mark.timeout(1200)
def test_fifty_tabs_leave_no_simulator(browser) -> None:
    from tests.view.live import simulators
    from tests.view.test_server import freed

    policy = zoo_policy("ring-cruiser")
    with served(Source(task_show(policy, SINGLE_LANE_RING))) as server:
        before = simulators()
        for _ in range(50):
            tab = Tab(browser, server.url)
            tab.page.click("#play")
            assert len(simulators() - before) >= 1
            tab.close()
        assert freed(before)
