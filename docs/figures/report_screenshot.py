"""Makes docs/figures/report.png: the report on a shipped controller, in headless Chromium.

    python docs/figures/report_screenshot.py

Needs Playwright and a Chromium of the system.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from icct.cli.main import main as icct

FOLDER = Path(__file__).parent


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        page = Path(folder) / "report.html"
        words = [
            "zoo:lunar-lander/icct-2-feature",
            "--task",
            "lunar-lander",
            "--episodes",
            "50",
            "-o",
            str(page),
        ]
        icct(["report", *words])
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1100, "height": 1500})
        tab.goto(page.as_uri())
        tab.locator(".split").nth(3).click()  # fold one branch
        tab.locator("#fit").click()
        tab.locator(".leaf:visible").nth(1).click()  # the sliders go there
        tab.screenshot(path=str(FOLDER / "report.png"))
        browser.close()


if __name__ == "__main__":
    main()
