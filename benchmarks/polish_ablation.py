"""What each part of the polishing search is worth: the same runs with it and without.

    python benchmarks/polish_ablation.py --starts "results/polish/distilled/lunar-lander.*.json" \
        --task lunar-lander --variants full,no-heats,bare --seeds 20,21 --evaluations 10000 \
        --out ablation --jobs 16 --minutes 25
    python benchmarks/polish_ablation.py --out ablation --table

Each run (start, variant, seed) is a process of its own with one worker and leaves one record.
Records that are there are kept, so the same command goes on after a stop. All variants of a start
and a seed come one after the other: wherever it stops, they have about as many runs each.

Variants: `full`; `no-PART` for each part of the search (heats, races, duels, rewiring, growing,
looks, flat-restarts, back-to-peak); `bare`, without all of them; `only-PART`, without all others;
`numbers-only`, no change of structure; `cmaes`, `cmaes-lr`, `cmaes-sep`, other evolution
strategies. Several are joined with a plus sign: `cmaes-lr+no-growing`. Heats need 200 times the
validation episodes: with 100 of these and fewer than 20,000 evaluations `no-heats` is `full`.
"""

import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, stdev
from typing import Any, get_args

from icct.files import read_json, write_atomically
from icct.policy.file import policy_to_json, read_policy
from icct.polish.engine import Engine
from icct.polish.polish import fingerprint, polish
from icct.polish.search import PARTS, PolishConfig

SETTINGS: dict[str, dict[str, Any]] = {
    "full": {},
    **{f"no-{part}": {"without": (part,)} for part in PARTS},
    "bare": {"without": PARTS},
    **{f"only-{part}": {"without": tuple(p for p in PARTS if p != part)} for part in PARTS},
    "numbers-only": {"structure": False},
    **{engine: {"engine": engine} for engine in get_args(Engine) if engine != "cma"},
}


def options() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--starts", nargs="+", default=[], help="patterns of start policies")
    parser.add_argument("--task")
    usual = [name for name in SETTINGS if not name.startswith("only-")]
    parser.add_argument("--variants", default=",".join(usual))
    parser.add_argument("--seeds", default="20,21", help="seeds of the search")
    parser.add_argument("--evaluations", type=int, default=10_000)
    parser.add_argument("--validation-episodes", type=int, default=100)
    parser.add_argument("--report-episodes", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True, help="the folder of records")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--minutes", type=float, help="when to end; unfinished runs are killed")
    limit.add_argument("--until", help="the same as a time of day, UTC: 12:30")
    parser.add_argument("--commit", help="of the code, where it is no checkout")
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.add_argument(
        "--one", nargs=3, metavar=("START", "VARIANT", "SEED"), help="one run, here"
    )
    chosen = parser.parse_args()
    if not chosen.table and chosen.task is None:
        parser.error("runs need --task")
    for variant in chosen.variants.split(","):
        for name in variant.split("+"):
            if name not in SETTINGS:
                parser.error(f"{name} is no variant; there are {', '.join(SETTINGS)}")
    return chosen


def main() -> None:
    """Run what is not recorded yet, or one run, or print the table."""
    chosen = options()
    if chosen.one:
        start, variant, seed = chosen.one
        run_here(chosen, Path(start), variant, int(seed))
        return
    if not chosen.table:
        chosen.out.mkdir(parents=True, exist_ok=True)
        run_all(chosen)
    print(
        tables([read_json(path, "a record") for path in sorted(chosen.out.glob("*.record.json"))])
    )


def run_all(chosen: argparse.Namespace) -> None:
    """Run what is not recorded yet, until the time is up."""
    variants = chosen.variants.split(",")
    if find_spec("cmaes") is None:
        skipped = [variant for variant in variants if "cmaes" in variant]
        variants = [variant for variant in variants if variant not in skipped]
        if skipped:
            print(f"cmaes is not installed: {', '.join(skipped)} skipped", file=sys.stderr)
    starts = [Path(match) for pattern in chosen.starts for match in glob.glob(pattern)]
    # Those of another kind take turns, where names end in .seed-N.json.
    starts.sort(key=lambda path: (path.stem.rpartition(".")[2], path.name))
    jobs = [
        (start, variant, seed)
        for seed in map(int, chosen.seeds.split(","))
        for start in starts
        for variant in variants
        if not record_of(chosen, start, variant, seed).exists()
    ]
    runs = Runs(chosen, len(jobs))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which kills the runs as well
    with ThreadPoolExecutor(chosen.jobs) as pool:
        timer = threading.Timer(seconds_left(chosen), runs.end)
        timer.daemon = True
        timer.start()
        try:
            for _ in pool.map(lambda job: runs.run(*job), jobs):
                pass
        except BaseException:
            runs.end()
            raise
        timer.cancel()


class Runs:
    """Processes side by side, which end together.

    Args:
        chosen: The command line.
        total: How many there are, for the messages.
    """

    def __init__(self, chosen: argparse.Namespace, total: int) -> None:
        self._chosen, self._total, self._finished = chosen, total, 0
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def run(self, start: Path, variant: str, seed: int) -> None:
        """Run one process and wait for it; nothing, when the time is up."""
        chosen = self._chosen
        record = record_of(chosen, start, variant, seed)
        command = [
            sys.executable, __file__, "--one", str(start), variant, str(seed),
            "--task", chosen.task, "--evaluations", str(chosen.evaluations),
            "--validation-episodes", str(chosen.validation_episodes),
            "--report-episodes", str(chosen.report_episodes), "--out", str(chosen.out),
            *(("--commit", chosen.commit) if chosen.commit else ()),
        ]  # fmt: skip
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(threads, "1")}
        log = record.with_name(record.name.replace(".record.json", ".log"))
        with self._lock:
            if self._ended:
                return
            with log.open("wb") as errors:
                process = subprocess.Popen(
                    command, stdout=errors, stderr=subprocess.STDOUT, env=environment
                )
            self._running.add(process)
        status = process.wait()
        with self._lock:
            self._running.discard(process)
            self._finished += status == 0
            if status == 0:
                log.unlink()
            ending = "" if status == 0 else f": status {status}, see {log}"
            print(f"{self._finished} of {self._total}: {record.name}{ending}", file=sys.stderr)

    def end(self) -> None:
        """Kill what runs and begin nothing more."""
        with self._lock:
            self._ended = True
            for process in self._running:
                process.kill()


def seconds_left(chosen: argparse.Namespace) -> float:
    """Return how long runs may go on; a week, where nothing is said."""
    if chosen.minutes is not None:
        return float(60 * chosen.minutes)
    if chosen.until is None:
        return 7 * 86_400.0
    now = datetime.now(UTC)
    hour, minute = map(int, chosen.until.split(":"))
    end = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return (end + timedelta(days=end < now) - now).total_seconds()


def record_of(chosen: argparse.Namespace, start: Path, variant: str, seed: int) -> Path:
    """Return the file of a run's record."""
    name = f"{start.stem}.{variant}.{chosen.evaluations}.seed-{seed}.record.json"
    return Path(chosen.out / name)


def run_here(chosen: argparse.Namespace, path: Path, variant: str, seed: int) -> None:
    """Polish one policy in this process and write its record."""
    start, began = read_policy(path), time.process_time()
    result = polish(start, chosen.task, config_of(chosen, variant, seed))
    if result.stopped:
        sys.exit(130)
    content = {
        "start": path.stem,
        "fingerprint": fingerprint(start),
        "variant": variant,
        "seed": seed,
        "commit": chosen.commit or commit(),
        "cpu_s": round(time.process_time() - began, 1),
        **result.as_dict(),
        "policy": json.loads(policy_to_json(result.policy)),
    }
    write_atomically(record_of(chosen, path, variant, seed), json.dumps(content) + "\n")


def config_of(chosen: argparse.Namespace, variant: str, seed: int) -> PolishConfig:
    """Return what a variant is: the settings of all its names together."""
    settings: dict[str, Any] = {}
    for name in variant.split("+"):
        for key, value in SETTINGS[name].items():
            settings[key] = settings.get(key, ()) + value if key == "without" else value
    return PolishConfig(
        evaluations=chosen.evaluations,
        seed=seed,
        validation_episodes=chosen.validation_episodes,
        report_episodes=chosen.report_episodes,
        **settings,
    )


def commit() -> str | None:
    """Return the commit of the code, None where it is no checkout."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        found = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def tables(records: list[dict[str, Any]]) -> str:
    """Return a table for each kind of start and budget, and one over all kinds."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        budget = f"{record['config']['evaluations']:,} episodes"
        kinds[f"{record['start'].rpartition('.')[0]}, {budget}"].append(record)
        kinds[f"all of {record['task']}, {budget}"].append(record)
    return "\n\n".join(f"{kind}\n\n{table(group)}" for kind, group in sorted(kinds.items()))


def table(records: list[dict[str, Any]]) -> str:
    """Return the variants as Markdown, each beside `full` from the same starts and seeds."""
    runs: dict[str, dict[tuple[str, int], dict[str, Any]]] = defaultdict(dict)
    for record in records:
        runs[record["variant"]][record["start"], record["seed"]] = record
    lines = ["| variant | runs | before | after | kept | pairs | to full | ± | min |"]
    lines.append(f"|---|{'---:|' * 8}")
    for variant in sorted(runs, key=lambda name: (name != "full", name)):
        own, full = runs[variant], runs["full"]
        pairs = [_after(own[key]) - _after(full[key]) for key in own if key in full]
        error = f"{stdev(pairs) / len(pairs) ** 0.5:.1f}" if len(pairs) > 1 else ""
        cells = [
            variant,
            len(own),
            f"{mean(record['report']['start']['mean'] for record in own.values()):.1f}",
            f"{mean(map(_after, own.values())):.1f}",
            sum(not record["improved"] for record in own.values()),  # originals
            *((len(pairs), f"{mean(pairs):+.1f}" if pairs else "", error)
              if variant != "full" else ("", "", "")),
            f"{mean(record['elapsed_s'] for record in own.values()) / 60:.1f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _after(record: dict[str, Any]) -> float:
    return float(record["report"]["result"]["mean"])


if __name__ == "__main__":
    main()
