"""A process with a handler in it that answers one request at a time.

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

from icct.errors import IcctError, TaskError
from icct.stop import STOP_SIGNALS

ANSWER_WITHIN_S = 120.0  # far beyond any reset; a worker that is silent for longer hangs
STOP_WITHIN_S = 2.0
CANNOT_TRAVEL = (pickle.PicklingError, AttributeError, TypeError)

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
        except CANNOT_TRAVEL as error:
            self.connection.close()
            raise self._refusal(error) from error
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
        except CANNOT_TRAVEL as error:
            raise self._refusal(error) from error
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

    def kill(self) -> None:
        """End the process at once, from any thread; `close` is still to be called."""
        with contextlib.suppress(ValueError):  # closed already
            self._process.kill()

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

    def _refusal(self, error: Exception) -> TaskError:
        return TaskError(
            f"{self.doing}: what to run cannot be sent to another process ({error}). Use a class "
            "or function that a module defines, or run it in this process."
        )

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
