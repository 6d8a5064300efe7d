"""A browser of the system for the tests of pages; skips them where there is none."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as player:
        started = player.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()
