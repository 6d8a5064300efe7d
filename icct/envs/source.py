"""Task → its environment; somebody else's code meets ours here.

A source is a registered Gymnasium id (`Pendulum-v1`), `MODULE:NAME` or `FILE.py:NAME`, where NAME
is a class or a function that returns a Gymnasium environment, or that class or function itself;
or `plant:NAME` and `plant:FILE.toml`, see plant.py.
Whatever goes wrong in such code is one `TaskError` that says where.
"""

import dataclasses
import functools
import hashlib
import importlib
import importlib.util
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from icct.envs.simulators import safe_imports
from icct.envs.task import Source, Task
from icct.errors import IcctError, MissingExtraError, TaskError, did_you_mean

if TYPE_CHECKING:
    import gymnasium

    from icct.envs.base import TaskEnv

Maker = Callable[..., Any]
PLANT = "plant:"  # before the name or file of a plant, which is data and no code


def open_env(task: Task, render_mode: str | None = None) -> "TaskEnv":
    """Return a new environment of a task, in this process."""
    import_gymnasium(task.name, task.extra or "envs")
    from icct.envs.base import TaskEnv
    from icct.envs.open import OpenEnv

    made = make_raw(task.environment, dict(task.options), task.name, render_mode)
    if not isinstance(made, TaskEnv):
        return OpenEnv(task, made, render_mode)
    if task.built_in:
        made.spec = _spec(task)
    return made


def _spec(task: Task) -> Any:
    """Return the Gymnasium spec of a built-in task, so that `env.spec` is as `gymnasium.make`'s."""
    gymnasium = import_gymnasium(task.name)
    return dataclasses.replace(gymnasium.spec(task.gym_id), kwargs=dict(task.options))


def make_raw(
    source: Source, options: dict[str, Any], name: str, render_mode: str | None = None
) -> "gymnasium.Env[Any, Any]":
    """Return the environment as its author made it, or say what is wrong with it."""
    package = import_gymnasium(name)
    maker = maker_of(source)
    keywords = {**options, **({} if render_mode is None else {"render_mode": render_mode})}
    with blamed_on(f"{name}: making the environment"), safe_imports():
        made = maker(**keywords)
    if not isinstance(made, package.Env):
        raise TaskError(
            f"{name}: {source_text(source)} made {type(made).__name__}, expected a Gymnasium "
            "environment. An environment of the old gym package can be wrapped with shimmy."
        )
    environment: gymnasium.Env[Any, Any] = made
    return environment


def maker_of(source: Source) -> Maker:
    """Return the function or class that makes the environment, or say why there is none."""
    if callable(source):
        return source
    if source.startswith(PLANT):
        from icct.envs.plant import PlantEnv

        return functools.partial(PlantEnv, source)
    place, colon, name = source.rpartition(":")
    if colon and place.endswith(".py"):
        return _attribute(_load_file(Path(place)), name, source)
    if colon and name.isidentifier():
        return _attribute(_load_module(place), name, source)
    return _registered(source)


def source_text(source: Source) -> str:
    """Return a source as text: a function of a script or module as what `maker_of` takes.

    >>> from icct.envs.inner import InnerEnv
    >>> source_text(InnerEnv)
    'icct.envs.inner:InnerEnv'
    """
    if isinstance(source, str):
        return source
    name = getattr(source, "__qualname__", type(source).__qualname__)
    module = getattr(source, "__module__", None)
    if module == "__main__":
        script = getattr(sys.modules["__main__"], "__file__", None)
        return f"{Path(script).name}:{name}" if script else name
    return f"{module}:{name}"


def check_picklable(source: Source) -> None:
    """Refuse a function that cannot go to another process, such as a lambda."""
    try:
        pickle.dumps(source)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TaskError(
            f"The environment's factory cannot be sent to worker processes ({error}). Define it at "
            "the top level of a module, or name it as text: 'my_module:make_env'."
        ) from None


@contextmanager
def blamed_on(what: str) -> Iterator[None]:
    """Turn any exception of somebody else's code into one `TaskError` with its place."""
    try:
        yield
    except IcctError:
        raise
    except Exception as error:
        raise TaskError(f"{what} raised {type(error).__name__}: {error}{_place(error)}.") from error


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if "importlib" not in f.filename and not f.filename.startswith("<")]
    if not theirs or Path(theirs[-1].filename) == Path(__file__):
        return ""
    return f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})"


def _load_module(name: str) -> ModuleType:
    """Import a module; the working directory counts, as it does for `python -m`."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise TaskError(
            f"There is no module {name!r} here. Give MODULE:NAME of an installed module or one in "
            "this directory, or FILE.py:NAME."
        )
    with blamed_on(f"{name}: the import"):
        return importlib.import_module(name)


def _load_file(path: Path) -> ModuleType:
    """Import a file, once for each place, with its folder's other files within its reach."""
    path = path.resolve()
    name = f"icct_user_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise TaskError(f"{path}: there is no such file of Python code.")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs, as Python does: dataclasses look there
    try:
        with blamed_on(f"{path.name}: the import"):
            spec.loader.exec_module(module)
    except TaskError:
        del sys.modules[name]
        raise
    return module


def _attribute(module: ModuleType, name: str, source: str) -> Maker:
    if not hasattr(module, name):
        own = [key for key in vars(module) if not key.startswith("_")]
        raise TaskError(f"{source}: there is no {name!r} in it.{did_you_mean(name, own)}")
    found: Maker = getattr(module, name)
    if not callable(found):
        raise TaskError(
            f"{source} is {type(found).__name__}, expected a class or a function that makes a "
            "Gymnasium environment."
        )
    return found


def _registered(name: str) -> Maker:
    """Return what makes a registered environment, without the wrappers that only check."""
    gymnasium = import_gymnasium(name)
    known = gymnasium.registry
    module, colon, plain = name.rpartition(":")  # Gymnasium's own MODULE:ID
    if colon:
        _load_module(module)
    if plain not in known:
        raise TaskError(
            f"There is no task or Gymnasium environment {name!r}.{did_you_mean(name, known)} "
            "Give a built-in task (icct tasks lists them), a registered Gymnasium id, "
            "MODULE:NAME, FILE.py:NAME or a task card (TOML)."
        )
    return functools.partial(gymnasium.make, plain, disable_env_checker=True)


def import_gymnasium(name: str, extra: str = "envs") -> ModuleType:
    """Return Gymnasium, or say how to install it."""
    try:
        return importlib.import_module("gymnasium")
    except ImportError:
        raise MissingExtraError(
            f'Task {name!r} needs Gymnasium. Install it with: pip install "icct[{extra}]"'
        ) from None
