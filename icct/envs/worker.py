"""A task in a process of its own: training beside evaluation, several SUMO simulations at once.

Processes are spawned, never forked: libsumo and most simulators do not survive a fork. A script
that starts one therefore needs the usual `if __name__ == "__main__":`.
"""

import atexit
import contextlib
import multiprocessing
import pickle
import signal
import traceback
import weakref
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from icct.envs.base import (
    Frame,
    Observation,
    StepResult,
    action_box,
    observation_box,
)
from icct.envs.catalog import Task, check_options
from icct.errors import IcctError, TaskError
from icct.stop import STOP_SIGNALS

ANSWER_WITHIN_S = 120.0  # far beyond any reset; a worker that is silent for longer hangs
STOP_WITHIN_S = 2.0

_deaf: weakref.WeakSet[BaseProcess] = weakref.WeakSet()


def start_deaf(process: BaseProcess) -> None:
    """Start a process that never hears SIGINT and SIGTERM, not even while it starts.

    A terminal and Slurm send them to a whole job. They are for the parent, which ends its
    processes where that is safe; a process whose parent is gone ends by itself.
    """
    resource_tracker.ensure_running()  # by itself: its start changes the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    _deaf.add(process)


@atexit.register
def _end_the_deaf() -> None:
    """Kill what nobody closed; at its end Python would send a SIGTERM and wait for ever."""
    for process in list(_deaf):
        with contextlib.suppress(ValueError):  # closed
            process.kill()


class Worker:
    """A spawned process with a handler in it that answers one request at a time.

    Args:
        doing: What it works on, for error messages; may be changed before each request.
        make_handler: Called in the process with `arguments`. Its result is called with each
            request, and its `close` at the end.
    """

    def __init__(self, doing: str, make_handler: Callable[..., Any], *arguments: Any) -> None:
        self.doing = doing
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, make_handler, arguments), daemon=True
        )
        try:
            start_deaf(self._process)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            self.connection.close()
            raise TaskError(
                f"{doing}: what to run cannot be sent to another process ({error}). Use a class "
                "or function that a module defines, or run it in this process."
            ) from error
        finally:
            theirs.close()  # so that the death of the process ends our pipe

    @property
    def pid(self) -> int | None:
        """The id of the process."""
        return self._process.pid

    def ask(self, request: Any) -> None:
        """Send a request; `answer` waits for what comes back."""
        try:
            self.connection.send(request)
        except OSError:  # a dead process has closed its end; a closed one, ours
            raise self._death() from None

    def answer(self) -> Any:
        """Return the answer to the last request, or raise what the handler raised.

        The first answer, before any request, is None and says that the handler was made.
        """
        try:
            if not self.connection.poll(ANSWER_WITHIN_S):
                self.close()
                raise TaskError(f"{self.doing}: no answer from its process in {ANSWER_WITHIN_S} s.")
            fine, value = self.connection.recv()
        except (EOFError, OSError):
            raise self._death() from None
        if not fine:
            raise value
        return value

    def close(self) -> None:
        """Stop the process, gently and then firmly; may be called twice."""
        if self.connection.closed:
            return
        with contextlib.suppress(OSError):  # it may be dead already
            self.connection.send(None)
        self.connection.close()
        self._process.join(STOP_WITHIN_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def _death(self) -> TaskError:
        if self.connection.closed:
            return TaskError(f"{self.doing}: its process has been closed.")
        self._process.join(STOP_WITHIN_S)
        pid, status = self._process.pid, self._process.exitcode
        self.close()
        if status is not None and status < 0:
            how = f"was killed by signal {-status} ({signal.Signals(-status).name})"
            advice = " SIGKILL often means that the machine ran out of memory." * (status == -9)
        else:
            how = f"ended with status {status}"
            advice = ' A script that starts workers needs `if __name__ == "__main__":`.'
        return TaskError(f"{self.doing}: its worker process {pid} {how}.{advice}")


def _serve(connection: Connection, make_handler: Callable[..., Any], arguments: Any) -> None:
    """Answer requests until None or the end of the pipe; the main function of the process."""
    fine, made = _tried(make_handler, *arguments)
    try:
        connection.send((fine, None if fine else made))
        while fine and (request := connection.recv()) is not None:
            fine, answer = _tried(made, request)
            connection.send((fine, answer))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone, or no longer wants the answer
    finally:
        if not isinstance(made, IcctError):
            made.close()


def _tried(function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    """Return whether a call went well, and its result or an error that can travel."""
    try:
        return True, function(*arguments)
    except IcctError as error:
        return False, error
    except Exception:
        return False, TaskError(f"A worker failed.\n{traceback.format_exc()}")


class EnvHandler:
    """The environment inside the worker process."""

    def __init__(self, task: str, options: dict[str, Any]) -> None:
        from icct.envs import make

        self._env = make(task, **options)

    def __call__(self, request: tuple[str, Any]) -> Any:
        """Answer (what, argument), where what is `step`, `reset` or `render`."""
        what, argument = request
        try:
            if what == "step":
                return None, self._env.step(argument)
            if what == "reset":
                return None, self._env.reset(**argument)
            return None, self._env.render()
        except IcctError as error:  # a refused action ends neither the episode nor the process
            return error, None

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


class WorkerEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """A task's environment that runs in a process of its own and behaves like `make`'s.

    A call that finds the process dead raises a `TaskError` with the task and the episode's seed.
    """

    def __init__(self, task: Task, **options: Any) -> None:
        check_options(task, options)
        self.task = task
        self.observation_space = observation_box(task)
        self.action_space = action_box(task)
        self.render_mode: str | None = options.get("render_mode")
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / task.step_s)}
        self.worker = Worker(task.name, EnvHandler, task.name, options)
        self.worker.answer()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same episode."""
        if seed is not None or self._np_random is None:
            super().reset(seed=seed)  # a seed of our own, so that an error can always name it
            seed = self.np_random_seed
        self.worker.doing = f"{self.task.name}, episode after reset(seed={self.np_random_seed})"
        result: tuple[Observation, dict[str, Any]] = self._call(
            "reset", {"seed": seed, "options": options}
        )
        return result

    def step(self, action: NDArray[np.float32]) -> StepResult:
        """Act for one step."""
        result: StepResult = self._call("step", action)
        return result

    def render(self) -> Frame | None:
        """Return a picture of the present state, (height, width, 3), or None without a mode."""
        frame: Frame | None = self._call("render", None)
        return frame

    def close(self) -> None:
        """Stop the process; may be called twice."""
        self.worker.close()

    def _call(self, what: str, argument: Any) -> Any:
        self.worker.ask((what, argument))
        error, value = self.worker.answer()
        if error is not None:
            raise error
        return value
