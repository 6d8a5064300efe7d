"""Import a simulator, or say what to install: the one place that knows the packages' traps."""

import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from icct.errors import MissingExtraError

SUMO_SYSTEM_LIBRARIES = "libgl1 libx11-6 libxext6 libxrender1"


def import_simulator(module: str, task: str, extra: str) -> ModuleType:
    """Return an imported module, or raise an error that names the extra or the system packages."""
    try:
        with safe_imports():
            return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(_advice(error, task, extra)) from error


@contextmanager
def safe_imports() -> Iterator[None]:
    """Let simulators be imported: quietly, and where warnings are errors too."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame greets on stdout otherwise
    with warnings.catch_warnings():
        # SWIG modules (Box2D, libsumo) define types without __module__. CPython warns while it
        # builds them, and where warnings are errors the half-built module crashes the process.
        warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute")
        yield


def _advice(error: ImportError, task: str, extra: str) -> str:
    reason = str(error)
    if ".so" in reason:  # the package is there, a system library that it links to is not
        return (
            f"Task {task!r}: a system library is missing ({reason}). On Debian or Ubuntu install "
            f"it with: apt install {SUMO_SYSTEM_LIBRARIES}"
        )
    return (
        f'Task {task!r} is not installed ({reason}). Install it with: pip install "icct[{extra}]"'
    )
