"""The border: what a command line or a caller names → a Task, once.

Inside the package tasks are values that are passed along; `tests/test_borders.py` sees to it that
nobody else looks one up.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from icct.envs.catalog import TASKS
from icct.envs.source import PLANT, import_gymnasium, source_text
from icct.envs.task import Task
from icct.errors import ConfigError, TaskError, did_you_mean, shown
from icct.policy import Policy
from icct.policy.parts import Scalar

Named = str | Task  # what public functions take for a task
OPTION = "option."  # before the options in what a policy remembers


def find_task(named: Named, options: Mapping[str, Scalar] | None = None) -> Task:
    """Return the task that is named, with some options of its environment.

    Args:
        named: A built-in task (`figure-eight`), a registered Gymnasium id (`Pendulum-v1`),
            `MODULE:NAME`, `FILE.py:NAME`, a task card (`my-task.toml`), a plant (`plant:acc`,
            `my-plant.toml`), or a task itself.
        options: Options of the environment.

    >>> find_task("figure-eight").horizon
    1500
    """
    options = dict(options or {})
    if isinstance(named, Task):
        return named.with_options(options)
    if (task := _built_in(named)) is not None:
        return task.with_options(options)
    if named.startswith(PLANT) or (named.endswith(".toml") and _is_plant(named)):
        import_gymnasium(named)
        from icct.envs.plant import plant_task

        return plant_task(named).with_options(options)
    if named.endswith(".toml"):
        from icct.envs.card import read_card

        return read_card(Path(named)).with_options(options)
    place, colon, name = named.rpartition(":")
    if not colon:
        _check_registered(named)
    elif place.endswith(".py"):
        named = f"{Path(place).resolve()}:{name}"  # for a run that goes on from elsewhere
    return Task.from_env(named, options=options)


def parse_options(texts: Sequence[str]) -> dict[str, Scalar]:
    """Return options of an environment from texts NAME=VALUE, numbers as numbers.

    >>> parse_options(["g=9.81", "continuous=true", "mode=fast"])
    {'g': 9.81, 'continuous': True, 'mode': 'fast'}
    """
    options: dict[str, Scalar] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ConfigError(f"option {text!r}: expected NAME=VALUE.")
        options[name] = _scalar(value)
    return options


def given_task_options(given: object) -> dict[str, Scalar]:
    """Return options of an environment, given as a table or as texts NAME=VALUE."""
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
        raise ConfigError(f"options are {shown(given)}, expected a table, or texts NAME=VALUE.")
    return parse_options(given)


def _scalar(text: str) -> Scalar:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return text


def remembered(task: Task) -> tuple[tuple[str, Scalar], ...]:
    """Return what a policy remembers of its task beside name, features and actions.

    Of a built-in task only its options. A file of code is remembered without its folder.
    """
    chosen = tuple((f"{OPTION}{name}", value) for name, value in task.options)
    if task.built_in:
        return chosen
    place, colon, name = source_text(task.environment).rpartition(":")
    if place + colon == PLANT:
        name = Path(name).name
    about: tuple[tuple[str, Scalar], ...] = (
        ("environment", f"{Path(place).name if place.endswith('.py') else place}{colon}{name}"),
        ("horizon", task.horizon),
        ("step_s", task.step_s),
        ("collision", task.collision),
        ("per_process", task.per_process),
    )
    return (*((key, value) for key, value in about if value is not None), *chosen)


def task_of(policy: Policy) -> Task:
    """Return the task that a policy remembers, or say which one to name.

    Built-in tasks and registered Gymnasium ids are opened. A file or module is code, and a policy
    file may come from anybody: to run that code, the user has to name it.
    """
    name, card = policy.provenance.task, dict(policy.provenance.task_card)
    if name is None:
        raise TaskError(f"{policy.name} does not say what it was made for: name it with --task.")
    options = {k.removeprefix(OPTION): v for k, v in card.items() if k.startswith(OPTION)}
    environment = card.get("environment")
    if isinstance(environment, str) and environment.startswith(PLANT):
        return _plant_of(policy.name, environment)
    if (task := _built_in(name)) is not None:
        return task.with_options(options)
    if not isinstance(environment, str) or ":" in environment:
        raise TaskError(
            f"{policy.name} was made for {name}, which is code of {environment or 'somebody'}. A "
            f"policy file cannot have code run by itself: name it, --task {environment or 'TASK'}."
        )
    _check_registered(environment)
    horizon, step_s, collision, most = (
        card.get(key) for key in ("horizon", "step_s", "collision", "per_process")
    )
    return Task(
        name=name,
        environment=environment,
        features=policy.features,
        actions=policy.actions,
        horizon=horizon if isinstance(horizon, int) else 0,
        options=tuple(options.items()),
        step_s=step_s if isinstance(step_s, float) else None,
        collision=collision if isinstance(collision, str) else None,
        per_process=most if isinstance(most, int) else None,
    )


def task_of_run(written: object, options: Mapping[str, Scalar], named: Task | None = None) -> Task:
    """Return the task that a run remembers, with all of its card.

    Args:
        written: A built-in task's name, or the values of a card.
        options: Options of a built-in task's environment.
        named: The task as the caller names it. Only then is code run that a file or module holds.
    """
    if isinstance(written, str):
        task = _built_in(written)
        if task is None:
            raise TaskError(f"There is no built-in task {written!r}; this run is of another icct.")
        return task.with_options(options)
    from icct.envs.card import task_from_values

    if not isinstance(written, dict):
        raise TaskError(f"the task is {type(written).__name__}, expected a name or a card.")
    task = task_from_values(written)
    if str(task.environment).startswith(PLANT):
        return task
    if ":" in str(task.environment):
        if named is None or source_text(named.environment) != task.environment:
            raise TaskError(
                f"this run is of {task.name}, which is code. A run folder cannot have code run by "
                f"itself: name it, as in icct train {task.environment} --resume ..."
            )
    else:
        _check_registered(str(task.environment))
    return task


def _is_plant(path: str) -> bool:
    from icct.plant.file import is_plant_file

    return is_plant_file(path, TaskError)


def _plant_of(policy: str, environment: str) -> Task:
    """Return the task of a shipped plant; a file is remembered without its folder."""
    from icct.plant.file import shipped_plants

    if environment.removeprefix(PLANT) not in shipped_plants():
        file = environment.removeprefix(PLANT)
        raise TaskError(f"{policy} was made for the plant of a file: name it, --task .../{file}.")
    return find_task(environment)


def _built_in(name: str) -> Task | None:
    return next((task for task in TASKS.values() if name in (task.name, task.gym_id)), None)


def _check_registered(name: str) -> None:
    """Refuse a name that is neither a built-in task nor a registered environment."""
    registry = import_gymnasium(name).registry
    if name not in registry:
        raise TaskError(
            f"There is no task {name!r}.{did_you_mean(name, [*TASKS, *registry])} Built in are "
            f"{', '.join(TASKS)}; others have a Gymnasium id, MODULE:NAME, FILE.py:NAME "
            "or a task card (TOML)."
        )
