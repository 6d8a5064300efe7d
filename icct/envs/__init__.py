"""Where observations come from: the six tasks as Gymnasium environments.

`make("figure-eight")` gives an environment in this process, `make_worker("figure-eight")` the same
in a process of its own. Importing this package registers the Gymnasium ids where Gymnasium is
installed; simulators are imported by the first `make` that needs them.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from icct.envs.catalog import TASKS, Task, find_task
from icct.errors import MissingExtraError

if TYPE_CHECKING:
    from icct.envs.base import TaskEnv
    from icct.envs.worker import WorkerEnv

__all__ = ["TASKS", "Task", "find_task", "make", "make_worker", "register"]


def make(task: str, **options: Any) -> "TaskEnv":
    """Return the environment of a task, running in this process.

    Args:
        task: A short name such as `lunar-lander`, or a Gymnasium id.
        options: `render_mode="rgb_array"`, and the options that the task lists in the catalog.
    """
    import dataclasses

    found = find_task(task)
    need_gymnasium(found)
    import gymnasium

    module, _, name = found.entry_point.partition(":")
    environment: TaskEnv = getattr(importlib.import_module(module), name)(**options)
    register()
    environment.spec = dataclasses.replace(gymnasium.spec(found.gym_id), kwargs=dict(options))
    return environment


def make_worker(task: str, **options: Any) -> "WorkerEnv":
    """Return the environment of a task, running in a process of its own.

    Takes what `make` takes. If that process dies, the next call raises a `TaskError` that names
    the task and the seed of the episode.
    """
    found = find_task(task)
    need_gymnasium(found)
    from icct.envs.worker import WorkerEnv

    return WorkerEnv(found, **options)


def register() -> None:
    """Register the Gymnasium ids of all tasks; done on import where Gymnasium is installed."""
    import gymnasium

    for task in TASKS.values():
        if task.gym_id not in gymnasium.registry:
            gymnasium.register(
                task.gym_id, entry_point=task.entry_point, max_episode_steps=task.horizon
            )


def need_gymnasium(task: Task) -> None:
    """Refuse to go on without Gymnasium, and say what to install."""
    if importlib.util.find_spec("gymnasium") is None:
        raise MissingExtraError(
            f'Task {task.name!r} needs Gymnasium. Install it with: pip install "icct[{task.extra}]"'
        )


if importlib.util.find_spec("gymnasium") is not None:
    register()
