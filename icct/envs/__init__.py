"""Where observations come from: tasks, and their Gymnasium environments.

`make("figure-eight")` gives an environment in this process, `make_worker("figure-eight")` the same
in a process of its own; both take any task that `find_task` finds. Importing this package registers
the Gymnasium ids of the six built-in tasks where Gymnasium is installed; simulators are imported by
the first `make` that needs them.
"""

import importlib.util
from typing import TYPE_CHECKING, Any

from icct.envs.catalog import TASKS
from icct.envs.find import Named, find_task
from icct.envs.source import import_gymnasium, open_env
from icct.envs.task import Task

if TYPE_CHECKING:
    from icct.envs.base import TaskEnv
    from icct.envs.worker_env import WorkerEnv

__all__ = ["TASKS", "Task", "find_task", "make", "make_worker", "register"]


def make(task: Named, *, render_mode: str | None = None, **options: Any) -> "TaskEnv":
    """Return the environment of a task, running in this process.

    Args:
        task: Whatever `find_task` takes.
        render_mode: `rgb_array`, for pictures.
        options: Options of the environment.
    """
    return open_env(find_task(task, options), render_mode)


def make_worker(task: Named, *, render_mode: str | None = None, **options: Any) -> "WorkerEnv":
    """Return the environment of a task, running in a process of its own.

    Takes what `make` takes. If that process dies, the next call raises a `TaskError` that names
    the task and the seed of the episode.
    """
    found = find_task(task, options)
    import_gymnasium(found.name, found.extra or "envs")
    from icct.envs.worker_env import WorkerEnv

    return WorkerEnv(found, render_mode)


def register() -> None:
    """Register the Gymnasium ids of the built-in tasks; done on import where it is installed."""
    import gymnasium

    for task in TASKS.values():
        if task.gym_id not in gymnasium.registry:
            gymnasium.register(
                task.gym_id, entry_point=str(task.environment), max_episode_steps=task.horizon
            )


if importlib.util.find_spec("gymnasium") is not None:
    register()
