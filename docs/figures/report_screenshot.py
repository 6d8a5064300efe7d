"""Makes docs/figures/report.png: the report on a trained controller, in headless Chromium.

    python docs/figures/report_screenshot.py

Needs SUMO, Playwright and a Chromium of the system.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from icct.cli.main import main as icct

FOLDER = Path(__file__).parent
POLICY = "results/policies/single-lane-ring.icct-2-feature.paper.seed-0.best.json"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        page = Path(folder) / "report.html"
        source = str(FOLDER.parents[1] / POLICY)
        icct(["report", source, "--task", "single-lane-ring", "--episodes", "10", "-o", str(page)])
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1100, "height": 1500})
        tab.goto(page.as_uri())
        tab.locator('[data-node="1"]').click()  # fold one branch
        tab.locator("#fit").click()
        tab.locator(".leaf:visible").first.hover()
        tab.screenshot(path=str(FOLDER / "report.png"))
        browser.close()


if __name__ == "__main__":
    main()
