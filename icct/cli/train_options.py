"""The options of training on a command line: flags made from the list of options, and read."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.cli.flags import converter
from icct.cli.seeds import parse_seeds
from icct.cli.task import NAMES

if TYPE_CHECKING:
    from icct.envs.task import Task

OWN = ("task", "method", "seeds", "init")  # options whose flags are not made from their types


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of training."""
    from icct.options import OPTIONS

    parser.add_argument("task", nargs="?", help=f"{NAMES}; see icct tasks")
    parser.add_argument("--method", nargs="+", help=OPTIONS["method"].help)
    parser.add_argument(
        "--seeds",
        type=parse_seeds,
        metavar="N or A,B,C",
        help="how many members, seeded 0 to N - 1, or the seeds themselves (default: one, 0)",
    )
    parser.add_argument("--out", type=Path, help="the run folder (default: runs/TASK)")
    parser.add_argument(
        "--resume", type=Path, metavar="RUN", help="go on with a stopped run, as it was configured"
    )
    parser.add_argument("--config", type=Path, help="a TOML or JSON file of options")
    parser.add_argument("--init", nargs="+", metavar="POLICY", help=OPTIONS["init"].help)
    parser.add_argument(
        "--option", action="append", metavar="NAME=VALUE", help="an option of the environment"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default: auto)")
    parser.add_argument("--workers", type=int, help="processes that step environments")
    parser.add_argument("--scoring-workers", type=int, help="processes that evaluate")
    parser.add_argument(
        "--checkpoint-minutes",
        type=float,
        default=10.0,
        metavar="M",
        help="save the run every so many minutes, to resume from (default 10)",
    )
    parser.add_argument(
        "--compile",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the update by torch.compile (default: on a GPU, and on a CPU for long runs)",
    )


def add_preset_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for every other option of a configuration."""
    from icct.options import OPTIONS

    group = parser.add_argument_group("options of the preset")
    for name, _, kind, text in OPTIONS.values():
        flag, about = f"--{name.replace('_', '-')}", {"dest": f"option_{name}", "help": text}
        if name in OWN:
            continue
        if kind is bool:
            yes_or_no = argparse.BooleanOptionalAction
            group.add_argument(flag, action=yes_or_no, default=None, **about)  # type: ignore[arg-type]
        else:
            group.add_argument(flag, type=converter(kind), metavar="X", **about)  # type: ignore[arg-type]


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that the command line itself gives, but for task and method."""
    from icct.envs.find import parse_options
    from icct.options import OPTIONS
    from icct.zoo import lasting_source

    given = {name: getattr(options, f"option_{name}") for name in OPTIONS if name not in OWN}
    given["seeds"] = options.seeds
    if options.init is not None:
        given["init"] = tuple(lasting_source(path) for path in options.init)
    if options.option is not None:
        given["options"] = parse_options(options.option)
    return {name: value for name, value in given.items() if value is not None}


def training(options: argparse.Namespace) -> dict[str, Any]:
    """Return how the training itself is to run here."""
    return {
        "device": options.device,
        "scoring_workers": options.scoring_workers,
        "compile_update": options.compile,
        "checkpoint_minutes": options.checkpoint_minutes,
    }


def named_task(options: argparse.Namespace) -> "Task | None":
    """Return the task that the command line names, if any."""
    from icct.envs.find import find_task, parse_options

    if options.task is None:
        return None
    return find_task(options.task, parse_options(options.option or ()))


def command_to_resume(task: "Task", folder: Path) -> str:
    """Return the command that goes on with a run; code has to be named again."""
    from icct.envs.source import source_text

    source = "" if task.built_in else source_text(task.environment)
    if ":" not in source:
        return f"icct train --resume {folder}"
    chosen = "".join(f" --option {name}={value}" for name, value in task.options)
    return f"icct train {source}{chosen} --resume {folder}"
