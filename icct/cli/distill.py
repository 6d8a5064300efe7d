"""`icct distill TEACHER --task T`: a readable tree that acts like a trained teacher."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.inputs import keep_inputs
from icct.cli.task import actor_and_task, add_playing_arguments, add_task_arguments
from icct.lock import only_writer

if TYPE_CHECKING:
    from icct.distill import Distillation

EXAMPLES = """examples:
  icct distill teacher.safetensors --task inverted-pendulum --leaves 32 -o cart.json
  icct distill teacher.safetensors --task inverted-pendulum --leaves 32 --dagger 10 -o dagger.json
  icct distill teacher.safetensors --task lane-keeping --leaves 8 --features 2 --dagger 10 -o t.json
  icct distill teacher.json --splits teacher --features 2 --dagger 10 -o t.json
  icct train lane-keeping --init t.json            improve the tree by reinforcement learning

A teacher is anything that `icct evaluate` takes. Without --features leaves are constants (CART);
with it, linear rules of at most so many features; 0 are constants that `icct train` can go on from.
The three rounds that drove best play validation episodes, and the best of them is written. After
Ctrl-C or SIGTERM the same command goes on with the next round.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("teacher", help="a policy or actor file, zoo:NAME or driver:NAME")
    add_task_arguments(parser, "what it drives")
    parser.add_argument(
        "--leaves", type=int, help="at most so many (default with --splits teacher: as it has)"
    )
    parser.add_argument(
        "--features",
        type=int,
        metavar="E",
        help="weights of a leaf's linear rule; 0: constants (default: constants by CART)",
    )
    parser.add_argument(
        "--splits",
        choices=("grow", "teacher"),
        default="grow",
        help="grow: a new tree (default); teacher: the teacher's own splits, with new rules",
    )
    parser.add_argument(
        "--balanced",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="grow a tree with all leaves at one depth; leaves must be a power of two",
    )
    parser.add_argument(
        "--dagger", type=int, default=0, metavar="ROUNDS", help="rounds in which the tree drives"
    )
    parser.add_argument("--episodes", type=int, default=20, help="of each round (default 20)")
    add_playing_arguments(parser)
    parser.add_argument(
        "--validation-episodes",
        type=int,
        default=50,
        metavar="N",
        help="of each of the three best rounds, to choose one (default 50)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the new policy file")


def run(options: argparse.Namespace) -> int:
    """Distil, write the tree and print what every round returned."""
    from icct.cli.progress import ProgressBar, say_estimate
    from icct.distill import Request, distill
    from icct.distill.rounds import episodes_in_all
    from icct.envs.pace import episodes_s
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
        splits=options.splits,
        balanced=options.balanced,
        validation_episodes=options.validation_episodes,
    )
    kept = options.output.with_name(f"{options.output.name}.rounds.npz")
    lock = options.output.with_name(f"{options.output.name}.lock")
    request.check_teacher(teacher, task)
    in_all = episodes_in_all(request)
    say_estimate(f"at most {in_all:,} episodes", episodes_s(task, in_all, options.workers))
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
        "mean": result.mean,
        "standard_error": result.standard_error,
        "rounds": [asdict(this) for this in result.rounds],
    }


def _as_text(result: "Distillation", options: argparse.Namespace) -> str:
    lines = [f"teacher returns {result.teacher_mean:.2f} over {options.episodes} episodes"]
    for number, this in enumerate(result.rounds):
        line = (
            f"round {number}: {this.pairs} pairs, {this.leaves} leaves, return {this.mean:.2f} "
            f"± {this.standard_error:.2f}"
        )
        if this.validation_mean is not None:
            line += f", validation {this.validation_mean:.2f} ± {this.validation_error:.2f}"
        lines.append(line + "  <- written" * (number == result.best))
    return "\n".join([*lines, f"written to {options.output}"])
