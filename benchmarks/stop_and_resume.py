"""Stop training at random moments, resume it, and compare with a run that was never stopped.

    python benchmarks/stop_and_resume.py --stops 60

Each stop is a run of its own: SIGKILL, SIGTERM or SIGINT in turn, to the process or, as a terminal
and Slurm do, to all of its group, at a random moment of one of the phases of a run. Every third
run is resumed from another directory after its folder was moved. All must end with the policies
and scores of the straight run, to the bit, and leave no process and no shared memory behind (let
nothing else that leaves named blocks in /dev/shm run at the same time).
Used by tests/learn/test_stop.py with fewer stops.
"""

import argparse
import contextlib
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

STEPS, FIRST_UPDATE, EVALUATE_EVERY = 900, 300, 100
TRAINING = (
    "train inverted-pendulum --recipe paper --method icct-2-feature --leaves 4 --seeds 2 "
    "--device cpu "
    f"--steps {STEPS} --learning-starts {FIRST_UPDATE} --evaluate-every {EVALUATE_EVERY} "
    "--evaluate-episodes 300 --batch-size 16 --buffer-size 2000 --critic-hidden 8 --actor-lr 0.01 "
    "--workers 1 --scoring-workers 1 --checkpoint-minutes 0.005"
).split()
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PHASES = ("start-up", "random steps", "learning", "evaluations pending", "last evaluations")
LEFT_WITHIN_S = 30.0  # until processes whose parent was killed must be gone
MARK = f"STOP_AND_RESUME={uuid.uuid4()}"  # by which processes are known as ours
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
    "OMP_NUM_THREADS": "1",
    **dict([MARK.split("=")]),
}
BEFORE = frozenset(os.listdir("/dev/shm"))


@dataclass(frozen=True)
class Stopped:
    """One stop: what was sent when, how the process ended, and what was wrong in the end."""

    number: int
    sent: str
    phase: str
    status: int
    wrong: tuple[str, ...]


def main() -> int:
    """Make the stops, print one line for each and a table, and return 1 if anything differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stops", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="the number of the first stop")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    with tempfile.TemporaryDirectory() as name:
        numbers = range(options.first, options.first + options.stops)
        found = stop_and_resume(Path(name), numbers, options.seed, print_stop)
    counts = Counter((stop.phase, stop.sent.split()[0]) for stop in found)
    print("\n| phase | SIGKILL | SIGTERM | SIGINT |\n|---|---|---|---|")
    for phase in PHASES:
        cells = [str(counts[phase, one.name]) for one in SIGNALS]
        print(f"| {phase} | {' | '.join(cells)} |")
    bad = sum(bool(stop.wrong) for stop in found)
    print(f"\n{len(found)} stops, {len(found) - bad} ended as the run that was never stopped")
    return 1 if bad else 0


def print_stop(stop: Stopped) -> None:
    """Print one line."""
    verdict = "; ".join(stop.wrong) or "the same policies"
    what = f"{stop.number:3d} {stop.sent:<16} {stop.phase:<20} {stop.status:4d}"
    print(f"{what}  {verdict}", flush=True)


def stop_and_resume(
    place: Path,
    numbers: Iterable[int],
    seed: int = 0,
    report: Callable[[Stopped], None] = lambda stop: None,
) -> list[Stopped]:
    """Return what became of stopped and resumed runs; 15 numbers have each signal in each phase."""
    straight = place / "straight"
    began = time.monotonic()
    _run([*TRAINING, "--out", str(straight)], place).check_returncode()
    longest_s = time.monotonic() - began
    found = []
    for number in numbers:
        rng = random.Random(f"{seed} {number}")
        kind, phase = SIGNALS[number % 3], PHASES[number % 5]
        folder, group = place / f"run-{number}", rng.random() < 0.5
        status = _stopped(folder, kind, group, phase, rng, longest_s)
        away = number % 9 in (0, 4, 8)  # a third, and of every signal
        wrong = _resumed(folder, place, away, straight)
        sent = f"{kind.name} {'group' if group else ''}".strip()
        found.append(Stopped(number, sent, phase, status, tuple(wrong)))
        report(found[-1])
    return found


def _stopped(
    folder: Path,
    kind: signal.Signals,
    group: bool,
    phase: str,
    rng: random.Random,
    longest_s: float,
) -> int:
    """Start a run, stop it at a random moment of a phase, and return its exit status."""
    words = [sys.executable, "-m", "icct.cli.main", *TRAINING, "--out", str(folder)]
    with (folder.parent / f"{folder.name}.log").open("w") as log:
        process = subprocess.Popen(
            words, stdout=log, stderr=log, start_new_session=True, env=ENVIRONMENT
        )
    _await_phase(process, folder, phase, rng, longest_s)
    if process.poll() is None:
        (os.killpg if group else os.kill)(process.pid, kind)
    return process.wait(60)


def _await_phase(
    process: "subprocess.Popen[bytes]",
    folder: Path,
    phase: str,
    rng: random.Random,
    longest_s: float,
) -> None:
    """Wait until the run is in a phase, and for a random while more."""
    if phase == "start-up":  # imports, the first files, the start of processes
        time.sleep(rng.uniform(0.0, 0.4) * longest_s)
        return
    at = {
        "random steps": rng.randrange(1, FIRST_UPDATE),
        "learning": rng.randrange(FIRST_UPDATE, STEPS),
        "evaluations pending": EVALUATE_EVERY * rng.randrange(4, STEPS // EVALUATE_EVERY),
        "last evaluations": STEPS,
    }[phase]
    while process.poll() is None and _step(folder) < at:
        time.sleep(0.002)
    time.sleep(rng.uniform(0.0, 0.05))


def _step(folder: Path) -> int:
    """Return the last step that the run's checkpoint or final policies tell of."""
    from safetensors import SafetensorError, safe_open

    if list(folder.glob("policies/*.final.json")):
        return STEPS
    try:
        with safe_open(folder / "checkpoint.safetensors", framework="numpy") as file:
            return int(file.get_tensor("0.step"))
    except (SafetensorError, OSError):
        return 0


def _resumed(folder: Path, place: Path, away: bool, straight: Path) -> list[str]:
    """Resume a run, and return what differs from the straight one or was left behind."""
    wrong = _left_behind(folder)
    cwd, named = place, folder
    if away and folder.exists():
        cwd = place / "elsewhere"
        cwd.mkdir(exist_ok=True)
        folder = Path(shutil.move(folder, cwd / f"moved-{folder.name}"))
        named = Path(folder.name)
    if (folder / "run.json").exists():
        words = ["train", "--resume", str(named), "--workers", "1", "--scoring-workers", "1"]
    else:  # stopped before there was a run
        words = [*TRAINING, "--out", str(named)]
    done = _run(words, cwd)
    if done.returncode != 0:
        return [*wrong, f"resuming ended with {done.returncode}: {done.stderr[-300:]}"]
    return wrong + _differences(folder, straight) + _left_behind(folder)


def _differences(folder: Path, straight: Path) -> list[str]:
    wrong = []
    names = sorted(path.name for path in (straight / "policies").iterdir())
    if sorted(path.name for path in (folder / "policies").iterdir()) != names:
        wrong.append("other files in policies/")
    for name in names:
        if (folder / "policies" / name).read_bytes() != (straight / "policies" / name).read_bytes():
            wrong.append(f"another {name}")
    if _measured(folder) != _measured(straight):
        wrong.append("other measurements")
    return wrong


def _measured(folder: Path) -> list[tuple[str, ...]]:
    """Return all lines of metrics.csv; evaluations come back in no fixed order."""
    with (folder / "metrics.csv").open(newline="") as file:
        return sorted(tuple(row) for row in csv.reader(file))


def _left_behind(folder: Path) -> list[str]:
    """Return what a run left in the process list and in shared memory."""
    until = time.monotonic() + LEFT_WITHIN_S
    while left := [*_processes(), *_shared_memory()]:
        if time.monotonic() > until:
            return [f"left behind: {', '.join(left)}"]
        time.sleep(0.1)
    half_written = [p.name for p in folder.rglob("*.lock")]
    return [f"left behind: {', '.join(half_written)}"] if _finished(folder) and half_written else []


def _finished(folder: Path) -> bool:
    return (folder / "run.json").exists() and '"elapsed_s"' in (folder / "run.json").read_text()


def _processes() -> list[str]:
    """Return the processes that were started here, and what they started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if MARK.encode() in (entry / "environ").read_bytes():
                found.append(f"process {entry.name}")
    return found


def _shared_memory() -> list[str]:
    """Return blocks of shared memory that are new and that no process uses."""
    used = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            maps = (entry / "maps").read_text().splitlines()
            used |= {line.split()[4] for line in maps if "/dev/shm/" in line}  # the inode
    new = [entry for entry in os.scandir("/dev/shm") if entry.name not in BEFORE]
    return [entry.path for entry in new if str(entry.inode()) not in used]


def _run(words: list[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "icct.cli.main", *words]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env=ENVIRONMENT
    )


if __name__ == "__main__":
    sys.exit(main())
