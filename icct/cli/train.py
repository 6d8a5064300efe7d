"""`icct train TASK`: train controllers, one for each seed, and leave readable policies behind."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.cli import tracking, train_options, train_recipe
from icct.cli.flags import STOPPED
from icct.cli.train_options import command_to_resume, given_options, named_task, training
from icct.errors import ConfigError

if TYPE_CHECKING:
    from icct.envs.task import Task
    from icct.learn.config import TrainConfig
    from icct.learn.run import Run

EXAMPLES = """examples:
  icct train lunar-lander                                       teach, distil, polish: one tree
  icct train lunar-lander --minutes 20                          the same in twenty minutes
  icct train lunar-lander --method icct-1-feature icct-3-feature --seeds 5   shared teachers
  icct train lunar-lander --teacher good.json                   distil and polish a policy of yours
  icct train Pendulum-v1                                        any Gymnasium id
  icct train my_package.my_module:MyEnv --option size=3         or an environment of your own
  icct train my-task.toml                                       or a task card: icct tasks --help
  icct train plant:acc                                          or a plant: docs/plants.md
  icct train --resume runs/lunar-lander                         go on after a stop or a crash
  icct train lunar-lander --track --wandb-project-name lander   also on Weights & Biases

plain reinforcement learning, as in the paper:
  icct train inverted-pendulum --recipe paper                   the paper's hyperparameters
  icct train lunar-lander --recipe paper --method icct-complete mlp-max --seeds 3
  icct train lane-keeping --recipe paper --steps 100000 --actor-lr 5e-4
  icct train lane-keeping --init tree.json                      improve a tree that is there
  icct train inverted-pendulum --leaves 2 --grow --max-leaves 8 split leaves where it pays

The recipe icct leaves policies/seed-0.json, the tree to deploy, and run.json, how every stage
scored. Plain training leaves policies/seed-0.best.json and seed-0.final.json, metrics.csv and
TensorBoard events. Show a policy with `icct show`, score it with `icct evaluate`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    train_options.add_arguments(parser)
    train_recipe.add_arguments(parser)
    tracking.add_arguments(parser)
    train_options.add_preset_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Train, and print where the policies are."""
    import icct.learn  # noqa: F401  # refuses a missing torch in words

    if train_recipe.is_asked(options):
        return train_recipe.run(options, training(options))
    train_recipe.refuse_options(options)
    return _train(options)


def _train(options: argparse.Namespace) -> int:
    """Train plainly: reinforcement learning alone."""
    from icct.cli.how_long import say_how_long
    from icct.cli.tracking import followed, tracked
    from icct.learn.display import display
    from icct.learn.run import RUN_FILE, read_configs
    from icct.learn.train import resume, train

    settings = training(options) | {"workers": options.workers}
    if options.resume is not None:
        named = named_task(options)
        if _to_resume(options, named).finished:
            print(f"{options.resume} is finished, and left as it is.", file=sys.stderr)
        begun = read_configs(options.resume, named)
        with display() as show, tracked(options, begun, options.resume) as run:
            report = followed(show, run)
            result = resume(options.resume, task=named, report=report, **settings)
    else:
        configs = [config_of(options, method) for method in options.method or [None]]
        out = options.out or Path("runs") / configs[0].task.name
        if not (out / RUN_FILE).exists():  # which is refused at once
            say_how_long(configs, options.device)
        with display() as show, tracked(options, configs, out) as run:
            result = train(configs, out, report=followed(show, run), **settings)
    print(_summary(result))
    return 0 if result.finished else STOPPED


def config_of(options: argparse.Namespace, method: str | None) -> "TrainConfig":
    """Return the configuration that a command line asks for, of one of its methods."""
    from icct.learn.config import make_config

    return make_config(options.task, method, file=options.config, **given_options(options))


def _to_resume(options: argparse.Namespace, named: "Task | None") -> "Run":
    """Return the run to go on with, or refuse flags that say something else than it does."""
    from icct.envs.find import given_task_options
    from icct.learn.config import read_options
    from icct.learn.run import read_run

    run = read_run(options.resume, named)
    asked = ({} if options.config is None else read_options(options.config)) | given_options(
        options
    )
    tasks = [config.task for config in run.configs]
    if named is not None and any(named.name != task.name for task in tasks):
        raise _contradiction(options.resume, "task", [task.name for task in tasks])
    chosen = given_task_options(asked.pop("options", {}))
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
        ours = [config.value(name) for config in run.configs]
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


def _summary(result: "Run") -> str:
    lines = []
    for member in result.members:
        best = "none yet" if member.best_score is None else f"{member.best_score:.1f}"
        at = f" at step {member.best_step}" if member.best_step else ""
        lines.append(f"{member.group} seed {member.seed}: best evaluation {best}{at}")
    if result.finished:
        lines.append(f"policies are in {result.folder / 'policies'} ({result.elapsed_s:.0f} s)")
    else:
        again = command_to_resume(result.configs[0].task, result.folder)
        lines.append(f"stopped; go on with: {again}")
    return "\n".join(lines)
