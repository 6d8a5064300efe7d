"""Install the wheel in clean environments and try every verb: does it work, or name its extra?

    python tests/clean_installs.py dist/icct-0.1.0-py3-none-any.whl
    python tests/clean_installs.py dist/*.whl --pythons python3.11 python3.13 --extras core view

For every Python and every extra alone, and for all, an environment is made with uv, which also
fetches Pythons that are not there (extra `release`). A command whose extras are there has to work;
any other has to end with status 2 and the command that installs what it misses. Takes an hour, and
the network: not part of `make check`.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from core_only import WORKS

ROOT = Path(__file__).parents[1]
UV = (sys.executable, "-m", "uv")
NOT_FOR_USERS = {"dev", "docs", "release"}
TINY = (
    "--steps 120 --learning-starts 100 --batch-size 8 --critic-hidden 8 --buffer-size 200 "
    "--evaluate-every 100 --evaluate-episodes 1 --device cpu"
)
RECIPE = (
    "--rounds 0 --round-episodes 1 --polish-episodes 0 --validation-episodes 2 --fresh-episodes 2 "
    "--workers 1"
)
POLE = "zoo:pole-balancer --task inverted-pendulum"
# Command: (the extras it needs, its exit statuses when they are there), in an order that works.
TRIED: dict[str, tuple[str, tuple[int, ...]]] = {
    "export zoo:ring-cruiser --to onnx -o mine.onnx": ("export", (0,)),
    "draw zoo:ring-cruiser -o mine.svg": ("draw", (0,)),
    f"evaluate {POLE} --episodes 1": ("envs", (0,)),
    f"evaluate {POLE} --episodes 1 --video mine.gif": ("envs", (0,)),
    f"evaluate {POLE} --episodes 1 --video mine.mp4": ("video", (0,)),
    "evaluate zoo:ring-cruiser --task single-lane-ring --episodes 1": ("sumo", (0,)),
    f"audit {POLE} --episodes 1": ("envs", (0, 1)),
    f"record {POLE} --steps 5 -o mine.html": ("envs", (0,)),
    f"report {POLE} --episodes 1 -o mine.html": ("envs", (0,)),
    f"prune {POLE} --episodes 2 --workers 1 -o pruned.json": ("polish", (0,)),
    f"polish {POLE} --evaluations 140 --validation-episodes 10 --report-episodes 2 --workers 1 "
    "-o polished.json": ("polish", (0, 1)),
    f"distill {POLE} --leaves 2 --episodes 1 --validation-episodes 1 --workers 1 "
    "-o distilled.json": ("distill", (0,)),
    f"train inverted-pendulum {TINY} {RECIPE} --out run": ("train distill polish", (0,)),
    f"train inverted-pendulum --recipe paper {TINY} --out plain": ("train", (0,)),
    f"train inverted-pendulum --recipe paper {TINY} --out tracked --track": ("track", (0,)),
    f"adapt {POLE} --steps 120 --episodes 1 --device cpu -o adapted.json": ("train", (0,)),
    "bench record plain --episodes 1 --workers 1": ("train", (0,)),
    "bench report -o results.md": ("bench", (0,)),
    "completion bash": ("completion", (0,)),
    "guarantee zoo:plant/single-pendulum --plant plant:single-pendulum": ("guarantee", (0,)),
}
NEVER_ENDS = {f"view {POLE} --no-browser": "view"}


def main() -> int:
    """Try everything that was asked for, and return 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, help="the wheel to install")
    parser.add_argument("--pythons", nargs="+", default=["3.11", "3.12", "3.13"])
    parser.add_argument("--extras", nargs="+", help="default: core, each extra alone, all")
    parser.add_argument("--find-links", help="a folder of wheels beside the index")
    options = parser.parse_args()
    extras = options.extras or [
        "core",
        *(extra for extra in closures() if extra not in NOT_FOR_USERS),
    ]
    wrong = 0
    for python in options.pythons:
        for extra in extras:
            with tempfile.TemporaryDirectory() as place:
                found = tried(options.wheel.resolve(), python, extra, Path(place), options)
            wrong += len(found)
            print(f"{python} {extra}: {'; '.join(found) or 'as it should be'}", flush=True)
    return 1 if wrong else 0


def closures() -> dict[str, set[str]]:
    """Return extra → itself and the extras that come with it."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = declared["optional-dependencies"]
    found: dict[str, set[str]] = {}

    def closure(extra: str) -> set[str]:
        inner = [line.partition("[")[2].rstrip("]") for line in named[extra] if "icct[" in line]
        parts = {part for one in inner for part in one.split(",")}
        return {extra}.union(*map(closure, parts))

    for extra in named:
        found[extra] = closure(extra)
    return found


def tried(
    wheel: Path, python: str, extra: str, place: Path, options: argparse.Namespace
) -> list[str]:
    """Return what is wrong with one extra in a new environment of one Python."""
    env = place / "env"
    there = set() if extra == "core" else closures()[extra]
    what = str(wheel) if extra == "core" else f"{wheel}[{extra}]"
    links = ["--find-links", options.find_links] if options.find_links else []
    install = [
        [*UV, "venv", "--quiet", "--python", python, str(env)],
        [*UV, "pip", "install", "--quiet", "--python", str(env / "bin" / "python"),
         "--constraint", str(ROOT / "constraints.txt"), *links, what],
    ]  # fmt: skip
    for command in install:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return [f"not installed: {done.stderr.strip()[-500:]}"]
    work = place / "work"
    work.mkdir()
    (work / "results").mkdir()
    commands = {command: ("", (status,)) for command, status in WORKS.items()} | TRIED
    wrong = []
    for command, (needs, statuses) in commands.items():
        missing = set(needs.split()) - there
        wrong += outcome(env, work, command, missing, statuses)
    for command, needed in NEVER_ENDS.items():
        if needed not in there:
            wrong += outcome(env, work, command, {needed}, ())
    return wrong


def outcome(
    env: Path, work: Path, command: str, missing: set[str], statuses: tuple[int, ...]
) -> list[str]:
    """Run a command, and return what is wrong with how it ended."""
    quiet = os.environ | {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    words = [str(env / "bin" / "icct"), *shlex.split(command)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, cwd=work, env=quiet, timeout=300
    )
    right = done.returncode in statuses  # what is missing may have come along with the rest
    if missing and not right:
        named = {extra for extra in closures() if f'"icct[{extra}]"' in done.stderr}
        right = done.returncode == 2 and named and "Traceback" not in done.stderr
        misses = set().union(*(closures()[one] for one in missing))
        right = right and named <= misses
    if right:
        return []
    expected = f"one of {sorted(missing)} to be named" if missing else f"status {statuses}"
    return [f"icct {command}: expected {expected}, got {done.returncode}: {done.stderr[-400:]}"]


if __name__ == "__main__":
    sys.exit(main())
