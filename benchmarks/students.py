"""Kinds of students beside each other: new trees, the teacher's splits, balanced trees, CART.

    python benchmarks/students.py lunar-lander --teachers 0 1 2 3 4 --features 1 2 3 --leaves 8
    python benchmarks/students.py lunar-lander --kinds cart balanced --features 0 --leaves 32
    python benchmarks/students.py figure-eight --teachers 0 --leaves 16 --dagger 7 --episodes 3

Teachers are the complete trees in results/earlier-preset. Each student is distilled by DAgger and
then plays fresh episodes; a record of each run is written to --out, and runs that have one are not
repeated. `largest` is the largest weight of all rules. CART ignores --features.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import mean
from typing import Any

from icct import read_policy
from icct.distill import Request, distill
from icct.envs.find import find_task
from icct.evaluate import evaluate
from icct.files import read_json, write_atomically
from icct.policy import Policy
from icct.seeds import FRESH

TEACHERS = Path("results/earlier-preset/policies")
KINDS: dict[str, dict[str, Any]] = {
    "grow": {},
    "balanced": {"balanced": True},
    "teacher": {"splits": "teacher"},
    "cart": {},
}


def main() -> None:
    """Make the students that have no record yet, and print a table of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    parser.add_argument("--teachers", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS)[:3])
    parser.add_argument("--features", type=int, nargs="+", default=[2], help="0: constants")
    parser.add_argument("--leaves", type=int, default=8)
    parser.add_argument("--dagger", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--validation-episodes", type=int, default=50)
    parser.add_argument("--fresh", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("runs/students"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"{options.task}, {options.leaves} leaves, {options.fresh} fresh episodes\n")
    print("| kind | features | return by teacher | mean | seconds | largest |")
    print("|---|---|---|---|---|---|")
    for features in options.features:
        for kind in options.kinds:
            runs = [record(options, kind, features, seed) for seed in options.teachers]
            each = ", ".join(f"{run['mean']:.0f}" for run in runs)
            print(
                f"| {kind} | {features} | {each} | {mean(run['mean'] for run in runs):.0f} | "
                f"{mean(run['seconds'] for run in runs):.0f} | "
                f"{max(run['largest'] for run in runs):.1f} |",
                flush=True,
            )


def record(options: argparse.Namespace, kind: str, features: int, seed: int) -> dict[str, Any]:
    """Return the record of one student, from its file where there is one."""
    request = Request(
        leaves=options.leaves,
        features=None if kind == "cart" else features,
        dagger=options.dagger,
        episodes=options.episodes,
        seed=seed,
        validation_episodes=options.validation_episodes,
        **KINDS[kind],
    )
    name = f"{options.task}.{kind}.{features}-feature.{options.leaves}-leaves"
    path = options.out / f"{name}.{options.dagger}x{options.episodes}.seed-{seed}.json"
    if path.exists():
        kept: dict[str, Any] = read_json(path, "a record")
        return kept
    teacher = read_policy(TEACHERS / f"{options.task}.icct-complete.paper.seed-{seed}.best.json")
    task, began = find_task(options.task), time.process_time()
    result = distill(teacher, task, request)
    seconds = time.process_time() - began
    fresh = evaluate(result.policy, task, episodes=options.fresh, seed=FRESH + seed)
    made = {
        "mean": fresh.mean,
        "standard_error": fresh.standard_error,
        "validation": result.mean,
        "round": result.best,
        "leaves": len(result.policy.leaves),
        "depth": result.policy.depth,
        "largest": largest(result.policy),
        "seconds": seconds,
    }
    write_atomically(path, json.dumps(made, indent=2))
    return made


def largest(policy: Policy) -> float:
    """Return the largest weight of all rules, as it is written."""
    rules = (rule for index in policy.leaves for rule in policy.leaf(index).controllers)
    return max((abs(weight) for rule in rules for _, weight in rule.weights), default=0.0)


if __name__ == "__main__":
    main()
