"""What the wheel does with numpy alone; `make wheel` runs this where nothing else is installed."""

import shlex
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

import icct

SOURCE = Path(__file__).parents[1] / "icct"
ICCT = Path(sys.prefix) / "bin" / "icct"
# What runs without an extra, and how it ends.
WORKS = {
    "--version": 0,
    "--help": 0,
    "show zoo:ring-cruiser --observation speed_ego=0.118": 0,
    "verify zoo:ring-cruiser --properties single-lane-ring": 1,  # one of them is refuted
    "measure zoo:ring-cruiser": 0,
    "edit zoo:ring-cruiser --set 'node 0 threshold = 0.118' -o mine.json": 0,
    "simplify mine.json --within 0.1 -o shorter.json": 0,
    "diff zoo:ring-cruiser shorter.json": 1,  # they differ
    "export mine.json --to c -o mine.c": 0,
    "export mine.json --to python -o mine.py": 0,
    "export mine.json --to dot -o mine.dot": 0,
    "export mine.json --to latex -o mine.tex": 0,
    "report mine.json -o mine.html": 0,
    "robot --script submit.py": 0,
    "tasks": 0,
}
# What does not, and the extra that it names.
NEEDS = {
    "export zoo:ring-cruiser --to onnx -o mine.onnx": "export",
    "draw zoo:ring-cruiser -o mine.svg": "draw",
    "evaluate zoo:pole-balancer --task inverted-pendulum": "envs",
    "evaluate zoo:ring-cruiser --task single-lane-ring": "sumo",
    "audit zoo:pole-balancer --task inverted-pendulum": "envs",
    "prune zoo:pole-balancer --task inverted-pendulum -o x.json": "polish",
    "polish zoo:pole-balancer --task inverted-pendulum --minutes 1 -o x.json": "polish",
    "distill zoo:pole-balancer --task inverted-pendulum --leaves 2 -o x.json": "distill",
    "completion bash": "completion",
    "record zoo:pole-balancer -o x.html": "envs",
    "view zoo:pole-balancer --no-browser": "view",
    "train inverted-pendulum --out run": "train",
    "train inverted-pendulum --recipe paper --out run": "train",
    "adapt zoo:pole-balancer --task inverted-pendulum -o x.json": "train",
    "bench record run": "train",
    "tune inverted-pendulum --out run": "train",
    "guarantee zoo:plant/acc --plant plant:acc": "guarantee",
}


def wrong_with_the_installation() -> list[str]:
    """Return what is installed beside numpy, and what of the package is not."""
    wrong = []
    installed = {found.name for found in distributions()}
    if installed != {"icct", "numpy"}:
        wrong.append(f"installed are {sorted(installed)}, expected icct and numpy alone")
    package = Path(icct.__file__).parent
    if not package.is_relative_to(sys.prefix):
        wrong.append(f"icct comes from {package}, expected the wheel in {sys.prefix}")
    for path in SOURCE.rglob("*"):
        inside = path.relative_to(SOURCE)
        if path.is_file() and "__pycache__" not in path.parts and not (package / inside).is_file():
            wrong.append(f"icct/{inside} is not in the wheel")
    return wrong


def wrong_with_the_commands(place: Path) -> list[str]:
    """Return which commands, run in a folder, end otherwise than they should."""
    wrong = []
    for command, expected in (WORKS | NEEDS).items():
        words = [ICCT, *shlex.split(command)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=place)
        if isinstance(expected, int):
            right = done.returncode == expected
        else:
            named = f'pip install "icct[{expected}]"' in done.stderr
            right = done.returncode == 2 and named and "Traceback" not in done.stderr
        if not right:
            wrong.append(f"icct {command}: {expected!r} expected, status {done.returncode}")
            wrong.append(done.stderr or done.stdout)
    return wrong


def main() -> int:
    """Try everything in an empty folder, and return 1 where something is wrong."""
    wrong = wrong_with_the_installation()
    with tempfile.TemporaryDirectory() as place:
        wrong += wrong_with_the_commands(Path(place))
    print(
        "\n".join(wrong) or f"{len(WORKS)} commands work with numpy alone, {len(NEEDS)} name theirs"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
