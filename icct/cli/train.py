"""`icct train TASK`: train controllers, one for each seed, and leave readable policies behind."""

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.cli.seeds import parse_seeds
from icct.cli.task import NAMES
from icct.errors import ConfigError

if TYPE_CHECKING:
    from icct.envs.task import Task
    from icct.learn.config import TrainConfig
    from icct.learn.run import Run

EXAMPLES = """examples:
  icct train inverted-pendulum                                  the paper's recipe, one seed
  icct train lunar-lander --method icct-2-feature --seeds 5     five controllers at the same time
  icct train Pendulum-v1                                        any Gymnasium id
  icct train my_package.my_module:MyEnv --option size=3         or an environment of your own
  icct train my-task.toml                                       or a task card: icct tasks --help
  icct train lunar-lander --method icct-complete mlp-max --seeds 3 --out runs/compare
  icct train lane-keeping --steps 100000 --actor-lr 5e-4        any value of the preset changed
  icct train lunar-lander --polish 8                            then 8 minutes of icct polish
  icct train lane-keeping --init tree.json                      improve a tree that is there
  icct train inverted-pendulum --leaves 2 --grow --max-leaves 8 split leaves where it pays
  icct train --resume runs/compare                              go on after a stop or a crash

The run folder holds policies/seed-0.best.json and seed-0.final.json for each seed, metrics.csv,
TensorBoard events and a checkpoint; with --polish also seed-0.polished.json. Show a policy with
`icct show`, score it with `icct evaluate`.
"""

OWN = ("task", "method", "seeds", "init", "grow", "normalise")  # options with flags of their own
INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb; those of a configuration are declared by `TrainConfig`."""
    from icct.learn.config import TrainConfig

    parser.add_argument("task", nargs="?", help=f"{NAMES}; see icct tasks")
    parser.add_argument("--method", nargs="+", help=_help("method"))
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
    parser.add_argument("--init", nargs="+", metavar="POLICY", help=_help("init"))
    parser.add_argument(
        "--grow", action=argparse.BooleanOptionalAction, default=None, help=_help("grow")
    )
    parser.add_argument(
        "--normalise", action=argparse.BooleanOptionalAction, default=None, help=_help("normalise")
    )
    parser.add_argument(
        "--option", action="append", metavar="NAME=VALUE", help="an option of the environment"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default: auto)")
    parser.add_argument("--workers", type=int, help="processes that step environments")
    parser.add_argument("--scoring-workers", type=int, help="processes that evaluate")
    parser.add_argument("--checkpoint-minutes", type=float, default=10.0, metavar="M")
    parser.add_argument(
        "--compile",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the update by torch.compile (default: on a GPU, and on a CPU for long runs)",
    )
    parser.add_argument(
        "--polish",
        type=float,
        metavar="MINUTES",
        help="at the end, polish each member's best policy for so many minutes",
    )
    group = parser.add_argument_group("options of the preset")
    for item in fields(TrainConfig):
        if item.name not in OWN:
            flag = f"--{item.name.replace('_', '-')}"
            group.add_argument(flag, dest=f"option_{item.name}", metavar="X", help=_help(item.name))


def run(options: argparse.Namespace) -> int:
    """Train, and print where the policies are."""
    from icct.cli.train_display import display
    from icct.learn.train import resume, train

    settings = {
        "device": options.device,
        "workers": options.workers,
        "scoring_workers": options.scoring_workers,
        "compile_update": options.compile,
        "checkpoint_minutes": options.checkpoint_minutes,
    }
    if options.polish is not None:
        _check_polish(options.polish)
    if options.resume is not None:
        named = _named_task(options)
        if _to_resume(options, named).finished:
            print(f"{options.resume} is finished, and left as it is.", file=sys.stderr)
        with display() as report:
            result = resume(options.resume, task=named, report=report, **settings)
    else:
        configs = [_config(options, method) for method in options.method or [None]]
        out = options.out or Path("runs") / configs[0].task.name
        with display() as report:
            result = train(configs, out, report=report, **settings)
    print(_summary(result))
    if result.finished and options.polish is not None:
        return _polish(result, options.polish, options.workers)
    return 0 if result.finished else INTERRUPTED


def _named_task(options: argparse.Namespace) -> "Task | None":
    from icct.envs.find import find_task, parse_options

    if options.task is None:
        return None
    return find_task(options.task, parse_options(options.option or ()))


def _to_resume(options: argparse.Namespace, named: "Task | None") -> "Run":
    """Return the run to go on with, or refuse flags that say something else than it does."""
    from icct.envs.find import parse_options
    from icct.learn.config import read_options
    from icct.learn.run import read_run

    run = read_run(options.resume, named)
    asked = ({} if options.config is None else read_options(options.config)) | _given(options)
    tasks = [config.task for config in run.configs]
    if named is not None and any(named.name != task.name for task in tasks):
        raise _contradiction(options.resume, "task", [task.name for task in tasks])
    given = asked.pop("options", ())
    chosen = given if isinstance(given, dict) else parse_options(given)
    if any(
        str(dict(task.options).get(key)) != str(value)
        for task in tasks
        for key, value in chosen.items()
    ):
        raise _contradiction(options.resume, "option", [task.title for task in tasks])
    if options.method is not None:
        methods = [config.method for config in run.configs]
        if options.method != methods:
            raise _contradiction(options.resume, "method", methods)
        asked.pop("method", None)  # of the file, which a flag goes before
    for name, value in asked.items():
        ours = [getattr(config, name) for config in run.configs]
        if any(one != (tuple(value) if isinstance(value, list) else value) for one in ours):
            raise _contradiction(options.resume, name, ours)
    if options.out is not None and options.out.resolve() != options.resume.resolve():
        raise ConfigError(f"--out {options.out}: {options.resume} goes on where it is.")
    return run


def _contradiction(folder: Path, name: str, ours: list[Any]) -> ConfigError:
    found = " and ".join(str(value) for value in dict.fromkeys(ours))
    return ConfigError(
        f"{name}: {folder} goes on as it was configured, with {found}. Leave the option out, or "
        "start a new run."
    )


def _check_polish(minutes: float) -> None:
    """Refuse before the training what would fail after it."""
    from icct.polish import PolishConfig
    from icct.polish.climb import import_cma

    PolishConfig(minutes=minutes)
    import_cma()


def _polish(result: "Run", minutes: float, workers: int | None) -> int:
    """Polish each member's best policy, and write the result beside it."""
    import os

    from icct.cli.polish import PolishDisplay
    from icct.policy import Policy
    from icct.polish import PolishConfig, polish_to
    from icct.polish.to_file import journal_of

    for group, config in enumerate(result.configs):
        for member, seed in enumerate(config.seeds):
            best = result.policy(group, member)
            if not isinstance(best, Policy):
                print(f"{config.method} seed {seed}: not a tree, so not polished")
                continue
            stem = result.stem(group, member)
            path = stem.with_name(f"{stem.name}.polished.json")
            begun = journal_of(path).exists()
            if path.exists() and not begun:
                print(f"{path}: polished before")
                continue
            with PolishDisplay() as display:
                polished = polish_to(
                    path,
                    best,
                    config.task,
                    PolishConfig(minutes=minutes, seed=seed),
                    resume=begun,
                    workers=workers or len(os.sched_getaffinity(0)),
                    progress=display,
                )
            print(f"{polished.as_text()}\n  written     {path}")
            if polished.stopped:
                again = f"{_again(result)} --polish {minutes:g}"
                print(f"go on with: {again}", file=sys.stderr)
                return INTERRUPTED
    return 0


def _config(options: argparse.Namespace, method: str | None) -> "TrainConfig":
    from icct.learn.config import make_config

    return make_config(options.task, method, file=options.config, **_given(options))


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that the command line itself gives, but for task and method."""
    from icct.learn.config import TrainConfig
    from icct.zoo import lasting_source

    given = {
        item.name: _value(item.name, text)
        for item in fields(TrainConfig)
        if item.name not in OWN and (text := getattr(options, f"option_{item.name}")) is not None
    }
    if options.seeds is not None:
        given["seeds"] = options.seeds
    if options.init is not None:
        given["init"] = tuple(lasting_source(path) for path in options.init)
    if options.option is not None:
        given["options"] = tuple(options.option)
    for name in ("grow", "normalise"):
        if getattr(options, name) is not None:
            given[name] = getattr(options, name)
    return given


def _value(name: str, text: str) -> Any:
    """Return a flag's text as the type of its option: a number, several numbers, or a word."""
    from icct.learn.config import TrainConfig

    default = next(item.default for item in fields(TrainConfig) if item.name == name)
    if isinstance(default, str):
        return text
    try:
        numbers = tuple(_number(part, default) for part in text.split(",") if part.strip())
    except ValueError:
        raise ConfigError(f"--{name.replace('_', '-')} {text!r}: expected a number.") from None
    return numbers if isinstance(default, tuple) or len(numbers) != 1 else numbers[0]


def _number(text: str, default: Any) -> float | int:
    whole = isinstance(default, int) or (isinstance(default, tuple) and default)
    return int(text.replace("_", "")) if whole else float(text)


def _help(name: str) -> str:
    from icct.learn.config import TrainConfig

    item = next(item for item in fields(TrainConfig) if item.name == name)
    return str(item.metadata["help"]).replace("%", "%%")


def _again(result: "Run") -> str:
    """Return the command that goes on with a run; code has to be named again."""
    from icct.envs.source import source_text

    task = result.configs[0].task
    source = source_text(task.environment)
    if task.built_in or ":" not in source:
        return f"icct train --resume {result.folder}"
    chosen = "".join(f" --option {name}={value}" for name, value in task.options)
    return f"icct train {source}{chosen} --resume {result.folder}"


def _summary(result: "Run") -> str:
    lines = []
    for member in result.members:
        best = "none yet" if member.best_score is None else f"{member.best_score:.1f}"
        at = f" at step {member.best_step}" if member.best_step else ""
        lines.append(f"{member.group} seed {member.seed}: best evaluation {best}{at}")
    if result.finished:
        lines.append(f"policies are in {result.folder / 'policies'} ({result.elapsed_s:.0f} s)")
    else:
        lines.append(f"stopped; go on with: {_again(result)}")
    return "\n".join(lines)
