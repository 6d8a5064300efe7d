"""The report's sliders, in Chromium: the lit path and the action are the policy's own."""

from pathlib import Path

import numpy as np
import pytest

from icct.policy import Action, Controller, Feature, Leaf, Policy
from icct.verify import measure
from icct.view import page
from icct.zoo import zoo_policy
from tests.random_policies import observations_around, random_policy
from tests.verify.test_physical import with_scales

SETTINGS = 500
DRAG = """row => {
  for (const slider of document.querySelectorAll(".slider")) {
    const range = slider.querySelector("input[type=range]");
    range.value = String(row[Number(slider.dataset.feature)]);
    range.dispatchEvent(new Event("input"));
  }
}"""
JUMP = "row => icctReport.sliders.move(row)"  # every digit, which a slider does not keep
SHOWN = """(move, values) => values.map(row => {
  move(row);
  const numbers = selector => [...document.querySelectorAll(selector)]
    .map(e => Number(e.dataset.node));
  return { ...icctReport.shown, lit: numbers(".node.lit"),
    outline: [...new Set(numbers(".outline .lit"))],
    acts: document.getElementById("acts").textContent };
})"""


def scaled(seed: int, **shape: int) -> Policy:
    return with_scales(random_policy(seed, **shape), np.random.default_rng(seed))


@pytest.fixture
def open_report(browser, tmp_path: Path):
    """Return what opens a report; at the end nothing was said on the console."""
    said: list[str] = []
    tabs = []

    def opened(policy: Policy, **options):
        path = tmp_path / "report.html"
        path.write_text(page(policy, measure(policy)), encoding="utf-8")
        tab = browser.new_page(**options)
        tabs.append(tab)
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(path.as_uri())
        return tab

    yield opened
    for tab in tabs:
        tab.close()
    assert said == []


@pytest.mark.parametrize(
    "policy",
    [
        scaled(3, features=6, leaves=16),
        scaled(2, features=4, leaves=12),
        zoo_policy("lunar-lander/icct-2-feature"),
        zoo_policy("ring-cruiser"),
    ],
    ids=lambda policy: f"{policy.name} {policy.squash}",
)
@pytest.mark.parametrize("way", [DRAG, JUMP], ids=["dragged", "exact"])
def test_500_random_settings_agree_with_path_and_act(open_report, policy: Policy, way: str) -> None:
    tab = open_report(policy)
    table = observations_around(policy, np.random.default_rng(0), SETTINGS)  # and at thresholds
    found = tab.evaluate(f"values => ({SHOWN})({way}, values)", table.tolist())
    assert len(found) == SETTINGS
    for asked, shown in zip(table, found, strict=True):
        observation = shown["observation"]
        for feature in policy.used_features:
            near = pytest.approx(asked[feature], rel=1e-14)
            assert observation[feature] == (near if way == DRAG else asked[feature])
        path = policy.path(observation)
        assert tuple(shown["path"]) == path
        assert sorted(shown["lit"]) == sorted(shown["outline"]) == sorted(path)
        acted = policy.act(observation).tolist()
        tanh = policy.squash == "tanh"  # of the browser, and of numpy
        assert shown["action"] == (pytest.approx(acted, rel=1e-13, abs=1e-13) if tanh else acted)
        assert shown["acts"].startswith(f"leaf {path[-1]}: {policy.actions[0].name} = ")


def test_numbers_are_typed_in_physical_units(open_report) -> None:
    tab = open_report(zoo_policy("ring-cruiser"))
    typed = tab.locator(".slider input[type=number]")
    typed.fill("3.9")  # exactly the threshold: 0.13 of 30 m/s goes below
    assert tab.evaluate("icctReport.shown.path") == [0, 2, 3]
    assert tab.evaluate("icctReport.shown.observation[21]") == 0.13
    typed.fill("3.54")
    assert tab.locator("#acts").text_content() == "leaf 3: acceleration = −0.40 m/s²"
    typed.fill("99")
    assert "outside the bounds" in tab.locator(".slider").text_content()


def test_a_click_on_a_leaf_goes_there(open_report) -> None:
    policy = zoo_policy("lunar-lander/icct-2-feature")
    tab = open_report(policy)
    for leaf in policy.leaves:
        tab.locator(f'.node[data-node="{leaf}"]').click()
        assert tab.evaluate("icctReport.shown.path.at(-1)") == leaf


def test_what_nobody_reaches_is_grey_and_folded_at_first(open_report) -> None:
    policy = random_policy(7, leaves=32)
    tab = open_report(policy)
    few = tab.locator(".node:visible").count()
    assert tab.locator(".node.unreached:visible").count() > 0
    tab.locator("#unfold").click()
    assert tab.locator(".node:visible").count() == len(policy.nodes) > few


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_cut_off_and_letters_contrast(open_report, scheme: str) -> None:
    size = {"width": 390, "height": 844}
    tab = open_report(scaled(3, features=6, leaves=16), viewport=size, color_scheme=scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.locator(".outline").is_visible()
    assert not tab.locator(".tree").is_visible()
    paper, ink = (
        tab.evaluate(f"getComputedStyle(document.body).{name}")
        for name in ("backgroundColor", "color")
    )
    assert (luminance(paper) < luminance(ink)) == (scheme == "dark")
    assert abs(luminance(paper) - luminance(ink)) > 0.7


def luminance(colour: str) -> float:
    """Return how bright a colour such as `rgb(21, 23, 27)` is, 0 to 1."""
    red, green, blue = (int(word) for word in colour[4:-1].split(","))
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


def test_features_without_bounds_have_sliders_too(open_report) -> None:
    policy = random_policy(9, features=3, leaves=6, bounded=False)
    tab = open_report(policy)
    for leaf in policy.leaves:
        tab.locator("#unfold").click()
        tab.locator(f'.node[data-node="{leaf}"]').click()
        shown = tab.evaluate("icctReport.shown")
        assert tuple(shown["path"]) == policy.path(shown["observation"])


def test_a_long_rule_is_told_by_its_largest_terms(open_report) -> None:
    weights = tuple((i, float(i + 1)) for i in range(12))  # the largest come last
    features = tuple(Feature(f"x{i}", "m", -1, 1) for i in range(12))
    policy = Policy("long", features, (Action("a", "N"),), (Leaf((Controller(weights, 0.5),)),))
    rules = open_report(policy).locator("#rules").text_content()
    assert "12.00 x11 + 0.50 + 4 smaller terms)" in rules
    assert " x4 " in rules
    assert " x3 " not in rules
