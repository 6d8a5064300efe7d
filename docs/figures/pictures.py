"""Makes the pictures of docs/pictures.md: four trees on paper, on a phone and in dark mode.

    python docs/figures/pictures.py docs/figures/pictures

Needs Playwright and a Chromium of the system.
"""

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from icct.cli.main import main as icct

EARLIER = "results/earlier-preset/policies"
POLICIES = {
    "ring": "zoo:ring-cruiser",
    "lander": "zoo:lunar-lander/icct-2-feature",
    "16-leaves": f"{EARLIER}/figure-eight.icct-2-feature.paper.seed-0.best.json",
    "complete": f"{EARLIER}/figure-eight.icct-complete.paper.seed-0.best.json",
}
PAPER = 800  # pixels of a page's width
COLOURS = 48  # of a picture: small files


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, policy in POLICIES.items():
            drawn, page = Path(scratch) / f"{name}.png", Path(scratch) / f"{name}.html"
            icct(["draw", policy, "-o", str(drawn)])
            icct(["report", policy, "-o", str(page)])
            keep(drawn.read_bytes(), folder / f"{name}-paper.png", PAPER)
            for way, size, dark in (("phone", (390, 1700), False), ("dark", (1100, 1200), True)):
                picture = screenshot(browser, page, size, dark)
                keep(picture, folder / f"{name}-{way}.png", size[0])
        browser.close()


def screenshot(browser: Browser, page: Path, size: tuple[int, int], dark: bool) -> bytes:
    tab = browser.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
    )
    tab.goto(page.as_uri())
    picture = tab.screenshot()
    tab.close()
    return picture


def keep(picture: bytes, path: Path, width: int) -> None:
    """Write a picture with few colours, at most so wide."""
    image = Image.open(BytesIO(picture)).convert("RGB")
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)))
    image.quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
