"""`icct distill TEACHER --task T`: a readable tree that acts like a trained teacher."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.inputs import keep_inputs
from icct.cli.task import actor_and_task, add_task_arguments
from icct.lock import only_writer

if TYPE_CHECKING:
    from icct.distill import Distillation

EXAMPLES = """examples:
  icct distill teacher.safetensors --task inverted-pendulum --leaves 32 -o cart.json
  icct distill teacher.safetensors --task inverted-pendulum --leaves 32 --dagger 10 -o dagger.json
  icct distill teacher.safetensors --task lane-keeping --leaves 8 --features 2 --dagger 10 -o t.json
  icct train lane-keeping --init t.json            improve the tree by reinforcement learning

A teacher is anything that `icct evaluate` takes. Without --features leaves are constants (CART);
with it, linear rules of at most so many features. The best student of all rounds is written. After
Ctrl-C or SIGTERM the same command goes on with the next round.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("teacher", help="a policy or actor file, zoo:NAME or driver:NAME")
    add_task_arguments(parser, "what it drives")
    parser.add_argument("--leaves", type=int, required=True, help="at most so many")
    parser.add_argument("--features", type=int, metavar="E", help="weights of a leaf's linear rule")
    parser.add_argument(
        "--dagger", type=int, default=0, metavar="ROUNDS", help="rounds in which the tree drives"
    )
    parser.add_argument("--episodes", type=int, default=20, help="of each round (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same tree")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="W", help="processes to share the episodes"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the new policy file")


def run(options: argparse.Namespace) -> int:
    """Distil, write the tree and print what every round returned."""
    from icct.cli.progress import ProgressBar
    from icct.distill import Request, distill
    from icct.policy.file import write_policy

    keep_inputs(options.output, options.teacher, force=None)
    teacher, task = actor_and_task(options, options.teacher)
    request = Request(
        leaves=options.leaves,
        features=options.features,
        dagger=options.dagger,
        episodes=options.episodes,
        seed=options.seed,
        teacher=Path(options.teacher).name,
    )
    kept = options.output.with_name(f"{options.output.name}.rounds.npz")
    lock = options.output.with_name(f"{options.output.name}.lock")
    with only_writer(options.output, lock):
        with ProgressBar("episodes") as progress:
            result = distill(
                teacher,
                task,
                request,
                workers=options.workers,
                progress_file=kept,
                report=progress,
            )
        write_policy(result.policy, options.output)
        kept.unlink(missing_ok=True)
    print(json.dumps(_as_dict(result), indent=2) if options.json else _as_text(result, options))
    return 0


def _as_dict(result: "Distillation") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "teacher_mean": result.teacher_mean,
        "best": result.best,
        "rounds": [asdict(this) for this in result.rounds],
    }


def _as_text(result: "Distillation", options: argparse.Namespace) -> str:
    lines = [f"teacher returns {result.teacher_mean:.2f} over {options.episodes} episodes"]
    for number, this in enumerate(result.rounds):
        chosen = "  <- written" if number == result.best else ""
        lines.append(
            f"round {number}: {this.pairs} pairs, {this.leaves} leaves, return {this.mean:.2f} "
            f"± {this.standard_error:.2f}{chosen}"
        )
    return "\n".join([*lines, f"written to {options.output}"])
