"""The rows of the recipe's table: one `icct train` for each task, method and seed, many at a time.

    python benchmarks/recipe_runs.py --tasks lane-keeping inverted-pendulum --jobs 16 --minutes 9
    python benchmarks/recipe_runs.py --tasks lunar-lander --methods icct-1-feature --seeds 0 1

Each run chooses among two teachers that are in the repository: those of its seed in
results/recipe/teachers where there are some, otherwise the complete trees of its seed and of the
next by the paper's recipe, so that neighbouring seeds of those tasks may share a teacher. A run is
a process of its own with one worker. When the minutes are over, runs are stopped and can go on: the
same command resumes them. Finished ones are recorded in results/recipe.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from icct.bench.recipes import record_recipe
from icct.bench.tables import TASK_ORDER
from icct.recipe.config import METHODS_MADE
from icct.recipe.folder import RUN_FILE, Folder

TEACHERS = Path("results/recipe/teachers")
EARLIER = Path("results/earlier-preset/policies")
TEACHERS_PER_SEED = 2
SEEDS_BEFORE = 5  # that the paper's recipe was run with
KINDS = ("best", "final")


def main() -> None:
    """Run what is not finished, and record what is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", default=list(TASK_ORDER))
    parser.add_argument("--methods", nargs="+", default=list(METHODS_MADE))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--minutes", type=float, help="stop what is unfinished then")
    parser.add_argument("--out", type=Path, default=Path("runs/recipe"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("options", nargs="*", help="of icct train, after --")
    options = parser.parse_args()
    ends = time.monotonic() + 60 * (options.minutes or 1e6)
    waiting = [
        (task, method, seed)
        for seed in options.seeds
        for task in options.tasks
        for method in options.methods
        if not _finished(options.out, task, method, seed)
    ]
    running: dict[subprocess.Popen[bytes], Path] = {}
    while (waiting or running) and time.monotonic() < ends:
        while waiting and len(running) < options.jobs:
            folder = _folder(options.out, *waiting[0])
            running[_started(folder, *waiting.pop(0), options.options)] = folder
        time.sleep(0.5)
        for process in [one for one in running if one.poll() is not None]:
            folder = running.pop(process)
            print(f"{folder.name}: status {process.returncode}, {len(waiting)} wait", flush=True)
            if process.returncode == 0:
                record_recipe(folder, options.results)
    for process in running:
        process.send_signal(signal.SIGTERM)
    for process, folder in running.items():
        process.wait()
        print(f"{folder.name}: stopped", flush=True)


def _folder(out: Path, task: str, method: str, seed: int) -> Path:
    return out / f"{task}.{method}.seed-{seed}"


def _finished(out: Path, task: str, method: str, seed: int) -> bool:
    folder = _folder(out, task, method, seed)
    return (folder / RUN_FILE).exists() and Folder.read(folder).finished


def _started(
    folder: Path, task: str, method: str, seed: int, more: list[str]
) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", "from icct.cli.main import main; raise SystemExit(main())"]
    if (folder / RUN_FILE).exists():
        words += ["train", "--resume", str(folder), "--workers", "1"]
    else:
        words += ["train", task, "--method", method, "--seeds", f"{seed},", "--workers", "1"]
        words += ["--teacher", *map(str, _teachers(task, seed)), "--out", str(folder), *more]
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_name(f"{folder.name}.log")
    with log.open("ab") as output:
        return subprocess.Popen(
            words,
            stdout=output,
            stderr=output,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )


def _teachers(task: str, seed: int) -> list[Path]:
    """Return the teachers of a task and a seed, to choose from on validation episodes."""
    own = [
        TEACHERS / f"{task}.seed-{number}.{kind}.json"
        for number in range(TEACHERS_PER_SEED * seed, TEACHERS_PER_SEED * (seed + 1))
        for kind in KINDS
    ]
    earlier = [
        EARLIER / f"{task}.icct-complete.paper.seed-{number % SEEDS_BEFORE}.{kind}.json"
        for number in range(seed, seed + TEACHERS_PER_SEED)
        for kind in KINDS
    ]
    return own if all(path.exists() for path in own) else earlier


if __name__ == "__main__":
    main()
