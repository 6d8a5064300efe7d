"""Makes the pictures of docs/live-view.md: the live view in headless Chromium.

    python docs/figures/live_view_screenshots.py [NAME ...]

Needs Playwright, a Chromium of the system, and the simulators.
"""

import io
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from icct.envs import find_task
from icct.policy import Controller, Leaf, Policy, Split
from icct.verify import read_properties
from icct.view.server import Server
from icct.view.source import Source
from icct.view.task_simulation import task_show
from icct.zoo import zoo_policy

FOLDER = Path(__file__).parent
CARD = str(FOLDER.parents[1] / "examples" / "car-following.toml")


def car_follower() -> Policy:
    """Return a controller for examples/car_following.py, written by hand."""
    task = find_task(CARD)
    keep = Controller(((0, 0.12), (1, 0.9), (2, -1.14)), -0.6)  # gap, leader's speed, own speed
    return Policy(
        "car-follower",
        task.features,
        task.actions,
        (
            Split(0, 8.0, below=1, above=2),
            Leaf((Controller((), -3.0),)),
            Split(0, 90.0, below=3, above=6),
            Split(1, 3.0, below=4, above=5),
            Leaf((Controller(((0, 0.08), (2, -0.9)), -0.4),)),
            Leaf((keep,)),
            Leaf((Controller(((2, -0.1),), 3.0),)),
        ),
        "clip",
    )


def play(page: Page, steps: int, speed: str = "8") -> None:
    """Play so many steps and pause."""
    page.select_option("#speed", speed)
    page.click("#play")
    while int(page.locator("#app").get_attribute("data-step") or 0) < steps:
        page.wait_for_timeout(20)
    if page.inner_text("#play") == "Pause":
        page.click("#play")
    page.wait_for_timeout(300)


def scrub(page: Page, step: int) -> None:
    """Go to a step that has been played."""
    page.locator("#scrub").fill(str(step))
    page.locator(f"#app[data-step='{step}']").wait_for()
    page.wait_for_timeout(300)


def figure_eight(page: Page) -> None:
    """A traffic task, drawn from its state."""
    play(page, 420)
    scrub(page, 60)


def lander(page: Page) -> None:
    """The lander, in the dark."""
    play(page, 140)
    scrub(page, 90)


def ring_edited(page: Page) -> None:
    """The ring, with an edited policy beside the original."""
    page.click('#tree-place [data-node="3"]')
    page.get_by_label("constant").fill("30")
    page.keyboard.press("Enter")
    page.locator("#editor .effect h2").first.wait_for()
    page.click("#compare")
    page.locator(".scene").nth(1).wait_for(timeout=20_000)
    page.locator("#app[data-step='0']").wait_for()
    play(page, 500, "1000")


def car(page: Page) -> None:
    """An environment of the user's own."""
    play(page, 140)


def shoot(
    browser: Browser, name: str, policy: Policy, task: str, seed: int, theme: str,
    act: Callable[[Page], None],
) -> None:  # fmt: skip
    """Open a policy in the live view, do something with it, and keep a picture."""
    found = find_task(task)
    asked = read_properties(CARD if task == CARD else task) if "lunar" not in task else ()
    server = Server(Source(task_show(policy, found, asked), seed=seed, folder=Path("my-policies")))
    thread = threading.Thread(target=server.run)
    thread.start()
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=theme)
    page.goto(server.url)
    page.locator("#app[data-step='0']").wait_for(timeout=60_000)
    act(page)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture = picture.quantize(256, dither=Image.Dither.NONE)
    picture.save(FOLDER / f"live-{name}.png", optimize=True)
    page.close()
    server.stop()
    thread.join()


def main() -> None:
    """Make all pictures, or those that are named."""
    ring = "single-lane-ring"
    pictures = {
        "figure-eight": (
            zoo_policy("figure-eight-pacer"),
            "figure-eight",
            1,
            "light",
            figure_eight,
        ),
        "lander": (zoo_policy("lunar-lander/icct-2-feature"), "lunar-lander", 3, "dark", lander),
        "ring-edited": (zoo_policy("ring-cruiser"), ring, 4, "light", ring_edited),
        "own-environment": (car_follower(), CARD, 2, "light", car),
    }
    with sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name in sys.argv[1:] or pictures:
            shoot(browser, name, *pictures[name])
        browser.close()


if __name__ == "__main__":
    main()
