"""What is published agrees with itself: versions, extras, licence, what the wheel holds."""

import re
import tomllib
from pathlib import Path

import icct

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_one_version_everywhere() -> None:
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.M)
    assert cited is not None
    assert PROJECT["version"] == icct.__version__ == cited[1]


def test_the_changelog_has_this_version_or_what_is_unreleased() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    dated = [re.fullmatch(r"(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)", heading) for heading in headings]
    assert headings[0] == "Unreleased" or (dated[0] and dated[0][1] == icct.__version__)
    assert all(dated[1:])


def test_all_brings_every_extra_for_users() -> None:
    (everything,) = EXTRAS["all"]
    named = set(everything.removeprefix("icct[").removesuffix("]").split(","))
    assert set(EXTRAS) - named == {"all", "dev", "docs", "release", "networks"}


def test_messages_name_extras_that_exist() -> None:
    for file in (ROOT / "icct").rglob("*.py"):
        for names in re.findall(r"icct\[([\w,]+)\]", file.read_text()):
            assert set(names.split(",")) <= set(EXTRAS), file


def test_the_workflow_runs_what_ci_runs() -> None:
    workflow = (ROOT / ".github/workflows/check.yml").read_text()
    assert "run: .ci/run" in workflow
    for version in ("3.11", "3.12", "3.13"):
        assert f'"{version}"' in workflow
        assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
