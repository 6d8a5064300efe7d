"""Polish many policies side by side and make a table of returns before and after.

    python benchmarks/polish_table.py "runs/ll/policies/*/*.final.json" --task lunar-lander \
        --minutes 8 --cores 16 --side-by-side 8 --structure both --out results/polish

Each run is one `icct polish` command with its share of the cores, and leaves one record as it ends.
Finished records are kept, so the same command goes on after a stop. A run that fails leaves its
.log and stops nothing. Without policies nothing is run, and the table is that of the records that
are there; `--page docs/polish.md` writes it into that page, between the marks `<!-- polish -->` and
`<!-- end of polish -->` when the folder of records is called polish.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any

from icct.policy.file import read_policy
from icct.polish.polish import fingerprint

STRUCTURE = {"with": (True,), "without": (False,), "both": (True, False)}


def options() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policies", nargs="*", help="files, folders or patterns of start policies")
    parser.add_argument("--task")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=float)
    budget.add_argument("--evaluations", type=int)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--side-by-side", type=int, default=1, help="runs at the same time")
    parser.add_argument("--structure", choices=STRUCTURE, default="with")
    parser.add_argument("--objective", default="mean")
    parser.add_argument("--seeds", default="0", help="seeds of the search, such as 0,1,2")
    parser.add_argument("--validation-episodes", type=int, default=100)
    parser.add_argument("--report-episodes", type=int, default=100)
    parser.add_argument("--out", type=Path, required=True, help="the folder of records")
    parser.add_argument("--page", type=Path, help="a page whose table is to be replaced")
    chosen = parser.parse_args()
    if chosen.policies and (chosen.task is None or chosen.minutes == chosen.evaluations):
        parser.error("policies need --task, and --minutes or --evaluations")
    return chosen


def main() -> None:
    """Run what is not recorded yet, then print the table."""
    chosen = options()
    chosen.out.mkdir(parents=True, exist_ok=True)
    jobs = [
        (path, structure, int(seed))
        for path in start_files(chosen.policies)
        for seed in chosen.seeds.split(",")
        for structure in STRUCTURE[chosen.structure]
    ]
    with ThreadPoolExecutor(chosen.side_by_side) as pool:
        for number, line in enumerate(pool.map(lambda job: run_one(chosen, *job), jobs)):
            print(f"{number + 1} of {len(jobs)}: {line}", file=sys.stderr, flush=True)
    records = sorted(chosen.out.glob("*.record.json"))
    made = table([json.loads(path.read_text(encoding="utf-8")) for path in records])
    print(made)
    if chosen.page is not None:
        begin, end = f"<!-- {chosen.out.name} -->", f"<!-- end of {chosen.out.name} -->"
        before, _, rest = chosen.page.read_text(encoding="utf-8").partition(begin)
        _, _, after = rest.partition(end)
        chosen.page.write_text(f"{before}{begin}\n{made}\n{end}{after}", encoding="utf-8")


def start_files(patterns: list[str]) -> list[Path]:
    """Return the policy files that files, folders and patterns name."""
    found: list[Path] = []
    for pattern in patterns:
        if Path(pattern).is_dir():
            found += sorted(Path(pattern).rglob("*.json"))
        else:
            found += [Path(match) for match in sorted(glob.glob(pattern, recursive=True))]
    return found


def run_one(chosen: argparse.Namespace, path: Path, structure: bool, seed: int) -> str:
    """Polish one policy and write its record; return a line about it."""
    try:
        start = read_policy(path)
        kind = "with" if structure else "without"
        name = (
            f"{chosen.task}.{start.name}.{fingerprint(start)}.{kind}.{chosen.objective}.seed-{seed}"
        )
        record = chosen.out / f"{name}.record.json"
        if record.exists():
            return f"{name}: recorded before"
        workers = max(1, chosen.cores // chosen.side_by_side)
        result = polished(chosen, path, name, structure, seed, workers)
        about = {"file": path.name, "name": start.name, "method": start.provenance.method}
        content = {**about, "leaves": len(start.leaves), "cores": workers, **result}
        temporary = record.with_name(f".{record.name}")
        temporary.write_text(json.dumps(content) + "\n", encoding="utf-8")
        os.replace(temporary, record)
        before, after = (result["report"][who]["mean"] for who in ("start", "result"))
        return f"{name}: {before:.2f} -> {after:.2f}"
    except Exception as error:  # one run must not stop the others
        return f"{path}: FAILED: {error}"


def polished(
    chosen: argparse.Namespace, path: Path, name: str, structure: bool, seed: int, workers: int
) -> dict[str, Any]:
    """Run the command in a process of its own and return what it printed."""
    output = chosen.out / f"{name}.json"
    budget = (
        ["--minutes", str(chosen.minutes)]
        if chosen.minutes is not None
        else ["--evaluations", str(chosen.evaluations)]
    )
    command = [
        sys.executable, "-m", "icct.cli.main", "polish", str(path), "--task", chosen.task, *budget,
        "--workers", str(workers), "--seed", str(seed), "--objective", chosen.objective,
        "--structure" if structure else "--no-structure",
        "--validation-episodes", str(chosen.validation_episodes),
        "--report-episodes", str(chosen.report_episodes),
        "--json", "-o", str(output),
    ]  # fmt: skip
    if output.with_name(f"{output.name}.journal").exists():
        command.append("--resume")
    log = chosen.out / f"{name}.log"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with log.open("a", encoding="utf-8") as errors:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, check=False, env=environment
        )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"status {done.returncode}, see {log}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def table(records: list[dict[str, Any]]) -> str:
    """Return the records as Markdown: one row each, then the means of each group.

    A start's stage is the last part of its file's name, such as `best` or `final`.
    """
    lines = [
        "| task | start | seed | moves | before | after | choice | changes | episodes | min "
        "| cores |",
        f"|{'---|' * 11}",
    ]
    groups: dict[tuple[str, str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        report, config = record["report"], record["config"]
        kind = ("with" if config["structure"] else "without") + (
            "" if config["objective"] == "mean" else f", {config['objective']}"
        )
        stage = Path(record["file"]).stem.rpartition(".")[2]
        groups[record["task"], str(record["method"]), stage, kind].append(record)
        cells = [
            record["task"],
            f"{record['name']}, {stage}",
            config["seed"],
            kind,
            _cell(report["start"]),
            _cell(report["result"]),
            "better" if record["improved"] else "original kept",
            len(record["changes"]),
            f"{record['episodes']:,}",
            f"{record['elapsed_s'] / 60:.1f}",
            record["cores"],
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| task | method | start | moves | runs | mean before | mean after | worse |"]
    lines.append(f"|{'---|' * 8}")
    for (task, method, stage, kind), group in sorted(groups.items()):
        before, after = (
            mean(record["report"][who]["mean"] for record in group) for who in ("start", "result")
        )
        worse = sum(is_worse(record["report"]) for record in group)
        lines.append(
            f"| {task} | {method} | {stage} | {kind} | {len(group)} | {before:.2f} | {after:.2f} "
            f"| {worse} of {len(group)} |"
        )
    return "\n".join(lines)


def is_worse(report: dict[str, Any]) -> bool:
    """Return whether the result is below the start by more than two standard errors, paired."""
    pairs = zip(report["result"]["returns"], report["start"]["returns"], strict=True)
    differences = [after - before for after, before in pairs]
    middle = mean(differences)
    variance = sum((d - middle) ** 2 for d in differences) / (len(differences) - 1)
    return bool(middle < -2 * (variance / len(differences)) ** 0.5)


def _cell(scores: dict[str, Any]) -> str:
    return f"{scores['mean']:.2f} ± {scores['standard_error']:.2f}"


if __name__ == "__main__":
    main()
