"""The page in a real browser: it draws, folds, zooms, prints and fetches nothing."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.envs.catalog import INVERTED_PENDULUM
from icct.envs.episodes import Episode
from icct.evaluate import Evaluation
from icct.policy import Policy
from icct.policy.file import write_policy
from icct.policy.reach import unreached
from icct.policy.svg import em
from icct.policy.usage import leaf_shares
from icct.verify import Property, check, measure
from icct.view import page
from icct.view.curve import training_curves
from icct.view.tree import tree_layout
from icct.zoo import zoo_policy
from tests.export.hostile import hostile_policy
from tests.random_policies import random_policy


class Checker(HTMLParser):
    """Collects what a page would load, and refuses tags that are not closed in order."""

    VOID = ("meta", "br", "rect", "line", "path", "polyline")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.loaded += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        self.loaded += [name for name, _ in attrs if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def evaluation_of(policy: Policy) -> Evaluation:
    visits = tuple((leaf, 10 * index) for index, leaf in enumerate(policy.leaves, start=1))
    nowhere = (0,) * len(policy.features)
    episodes = tuple(
        Episode(i, 100.0 - i**2, 50, False, False, visits, nowhere, 0) for i in range(8)
    )
    return Evaluation(INVERTED_PENDULUM, policy.name, 0, episodes, policy.features)


def full_page(policy: Policy, questions: tuple[str, ...] = ()) -> str:
    answers = [check(policy, Property(text, "asked", "why <not>")) for text in questions]
    return page(policy, measure(policy), evaluation=evaluation_of(policy), answers=answers)


def test_the_page_says_what_was_found() -> None:
    policy = zoo_policy("ring-cruiser")
    slip = "when speed_ego > 3.9 then acceleration <= 0"
    text = full_page(policy, ("acceleration <= 1", "acceleration <= 0.5", slip))
    for expected in (
        "speed_ego",
        "proved</span>",
        "refuted</span>",
        'answer-word vacuous">vacuous</span>',
        "11</b>parameters",
        "why &lt;not&gt;",
        "return of an episode",
        "50.0 % of steps",
        "≤ 3.00 m/s",
        "0.00 to 1.00",  # raw, of 30 m/s
        "hold 3.5 m/s, which damps",
    ):
        assert expected in text, expected


@pytest.mark.parametrize("policy", [hostile_policy(), random_policy(3, leaves=64)])
def test_nothing_is_loaded_and_no_name_becomes_a_tag(policy: Policy) -> None:
    checker = Checker()
    checker.feed(full_page(policy))
    assert checker.open == []
    assert checker.loaded == []
    assert checker.scripts == 3


def test_training_curves(tmp_path: Path) -> None:
    policy = random_policy(1)
    folder = tmp_path / "run" / "policies"
    folder.mkdir(parents=True)
    write_policy(policy, folder / "seed-1.best.json")
    assert training_curves(policy, folder / "seed-1.best.json") == ()
    rows = [f"{step},group/m,1,score,{step / 10}" for step in range(1000)]
    (tmp_path / "run" / "metrics.csv").write_text(
        "\n".join(["step,group,seed,metric,value", *rows, "5,group/m,2,score,7", "9,group/m,1"])
    )
    trained = replace(policy, provenance=replace(policy.provenance, method="m", seed=1))
    (curve,) = training_curves(trained, folder / "seed-1.best.json")
    assert curve.name == "evaluation score"
    assert len(curve.steps) <= 400
    assert curve.steps[-1] == 999
    assert curve.values[0] == pytest.approx(0.1)
    assert training_curves(trained, tmp_path / "elsewhere.json") == ()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.html"
    assert main(["report", "zoo:ring-cruiser", "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    text = out.read_text(encoding="utf-8")
    assert "Not evaluated" in text
    questions = tmp_path / "p.toml"
    questions.write_text('[limit]\nproperty = "acceleration <= 1"\nwhy = "The motor."\n')
    command = ["report", "zoo:ring-cruiser", "--properties", str(questions), "-o", str(out)]
    assert main(command) == 0
    assert "proved</span>" in out.read_text(encoding="utf-8")


@pytest.mark.sumo
def test_a_recording_inside_the_report(browser, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    command = ["report", "zoo:ring-cruiser", "--episodes", "1", "--recording", "-o", str(out)]
    assert main(command) == 0
    tab = browser.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(out.as_uri())
    inside = tab.frame_locator("iframe.recording")
    inside.locator("#app[data-step='0']").wait_for()
    inside.locator("#step").click()
    inside.locator("#app[data-step='1']").wait_for()
    assert tab.locator(".tree .node").count() == 5  # the report's own tree is there as well
    assert said == []
    tab.close()


@pytest.fixture(params=["hostile", "random", "shipped"])
def opened(request, browser, tmp_path: Path):
    """Yield (policy, page in the browser); at the end nothing was said or fetched."""
    policy = {
        "hostile": hostile_policy(),
        "random": random_policy(5, leaves=24),
        "shipped": zoo_policy("ring-cruiser"),
    }[request.param]
    path = tmp_path / "report.html"
    path.write_text(full_page(policy), encoding="utf-8")
    tab = browser.new_page()
    said: list[str] = []
    fetched: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda asked: fetched.append(asked.url))
    tab.goto(path.as_uri())
    yield policy, tab
    assert said == []
    assert fetched == [path.as_uri()]
    assert tab.evaluate("window.broken") is None
    tab.close()


def places(tab) -> list[float]:
    """Return every number that says where a box or an edge stands."""
    texts = tab.eval_on_selector_all(
        ".node, .edge", "all => all.map(e => e.getAttribute('transform') ?? e.getAttribute('d'))"
    )
    return [float(word) for text in texts for word in re.findall(r"-?[\d.]+", text)]


def node_corners(tab) -> list[float]:
    texts = tab.eval_on_selector_all(".node", "all => all.map(e => e.getAttribute('transform'))")
    return [float(word) for text in texts for word in re.findall(r"-?[\d.]+", text)]


def test_in_a_browser(opened) -> None:
    policy, tab = opened
    tab.locator("#unfold").click()
    assert tab.locator(".node:visible").count() == len(policy.nodes)
    drawn = places(tab)
    visits = evaluation_of(policy).leaf_visits
    plan = tree_layout(policy, leaf_shares(policy, visits), unreached(policy, visits))
    corners = [em(value) for box in plan.boxes for value in (box.x, box.y)]
    assert node_corners(tab) == pytest.approx(list(map(float, corners)), abs=0.11)
    assert tab.locator(".node .tag text").all_text_contents() == [str(b.node) for b in plan.boxes]

    tab.locator('.node[data-node="0"]').click()  # folds the root: everything else goes
    assert tab.locator(".node:visible").count() == 1
    assert tab.locator('.node[data-node="0"]').get_attribute("aria-expanded") == "false"
    assert f"+ {len(policy.leaves)} leaves" in tab.locator('.node[data-node="0"]').text_content()
    tab.locator("#unfold").click()
    # The script's placing of the boxes is that of icct.policy.layout, to a tenth of a unit.
    assert places(tab) == pytest.approx(drawn, abs=0.11)

    whole = [float(word) for word in tab.locator(".tree").get_attribute("viewBox").split()]
    tab.locator("#zoom-in").click()
    nearer = [float(word) for word in tab.locator(".tree").get_attribute("viewBox").split()]
    assert nearer[2] == pytest.approx(0.8 * whole[2], abs=0.1)
    tab.locator("#fit").click()
    again = [float(word) for word in tab.locator(".tree").get_attribute("viewBox").split()]
    assert again == pytest.approx(whole, abs=0.2)

    leaf = policy.leaves[-1]
    tab.locator(f'.node[data-node="{leaf}"]').hover()
    assert tab.locator("#region").text_content().startswith(f"Leaf {leaf} sees observations with")


def test_no_boxes_overlap_after_folding(opened) -> None:
    policy, tab = opened
    for index in policy.splits[1:6]:
        if tab.locator(f'.node[data-node="{index}"]').is_visible():
            tab.locator(f'.node[data-node="{index}"]').press("Enter")
    areas = tab.eval_on_selector_all(
        ".node:not(.hidden) > rect:first-of-type",
        "all => all.map(e => { const b = e.getBoundingClientRect();"
        " return [b.left, b.right, b.top, b.bottom]; })",
    )
    for i, (left, right, top, bottom) in enumerate(areas):
        for other in areas[:i]:
            assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top


def test_text_stays_inside_its_box_and_the_page_prints(opened) -> None:
    _, tab = opened
    lost = tab.evaluate(
        """() => [...document.querySelectorAll(".node")].filter(node => {
            const box = node.querySelector("rect").getBoundingClientRect();
            return [...node.querySelectorAll(":scope > text:not(.more)")].some(text => {
                const area = text.getBoundingClientRect();
                return area.left < box.left - 1 || area.right > box.right + 1
                    || area.top < box.top - 2 || area.bottom > box.bottom + 2;
            });
        }).map(node => node.textContent)"""
    )
    assert lost == []
    assert tab.pdf().startswith(b"%PDF")
