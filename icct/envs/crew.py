"""Environments stepping in processes of their own, several in each, through shared memory.

The trainer writes raw actions and says go; while it updates, the processes step; then it waits for
them. What an environment did lies in one row of shared memory that is copied to the device as it
is. benchmarks/stepping.py measures this beside Gymnasium's AsyncVectorEnv. Never imports torch:
its processes would, at seconds and hundreds of MB each.
"""

import contextlib
import mmap
import multiprocessing
import os
import socket
import struct
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.envs.source import open_env
from icct.envs.task import Task
from icct.envs.worker import start_deaf
from icct.errors import IcctError, TaskError
from icct.seeds import training_seed

ANSWER_WITHIN_S = 120.0
# What goes through the pipe between the trainer and a process, a byte at a time. The end of the
# pipe is the end of the other side.
GO, STOP, DONE, FAILED = b"g", b"s", b"d", b"f"


@dataclass(frozen=True)
class Layout:
    """How the shared memory of a crew is divided; every part is float32, one row per member.

    | part      | columns          |                                                           |
    |-----------|------------------|-----------------------------------------------------------|
    | `actions` | actions          | what to do, in raw units                                  |
    | `outcome` | 2 features + 2   | next observation; observation to act on (after a reset    |
    |           |                  | that of the new episode); reward; whether anything follows |
    | `episode` | 4                | episode number; ended; its return; its length             |
    """

    members: int
    features: int
    actions: int

    @property
    def columns(self) -> tuple[int, int, int]:
        """The columns of the three parts."""
        return self.actions, 2 * self.features + 2, 4

    @property
    def size(self) -> int:
        """The number of bytes."""
        return 4 * self.members * sum(self.columns)

    def parts(self, buffer: Any) -> list[NDArray[np.float32]]:
        """Return the three parts as arrays over a buffer."""
        found, start = [], 0
        for columns in self.columns:
            shape = (self.members, columns)
            part = np.ndarray(shape, dtype=np.float32, buffer=buffer, offset=4 * start)
            found.append(part)
            start += self.members * columns
        return found


@dataclass(frozen=True)
class Slot:
    """One member's environment: its seed, where its episodes stand, and how the horizon counts."""

    seed: int
    horizon_ends: bool  # whether the critic takes a truncated episode for an ended one
    episode: int = 0
    played: NDArray[np.float32] | None = None  # actions of the running episode, to play again


class Hand:
    """One process of a crew, as the trainer sees it: which rows it fills, and the pipe to it."""

    def __init__(self, process: Any, pipe: Connection, rows: NDArray[np.intp]) -> None:
        self.process, self.pipe, self.rows = process, pipe, rows
        self._handle = pipe.fileno()
        with _as_socket(pipe) as way:  # one call of the system for each wait, not two
            patience = struct.pack("ll", round(ANSWER_WITHIN_S), 0)
            way.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)

    def tell(self, what: bytes) -> None:
        """Send one byte; a process that has died is noticed when it is waited for."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            os.write(self._handle, what)

    def wait(self, task: str) -> None:
        """Wait until the process is done, or raise what it complained about, or how it ended."""
        try:
            heard = os.read(self._handle, 1)
            if heard == DONE:
                return
            error = self.pipe.recv() if heard == FAILED else None
        except BlockingIOError:
            raise TaskError(f"{task}: no answer in {ANSWER_WITHIN_S} s.") from None
        except (EOFError, ConnectionResetError):
            error = None
        where = f"{task}, environments of members {', '.join(map(str, self.rows))}"
        if error is not None:
            raise type(error)(f"{where}: {error}")
        self.process.join(1.0)
        pid, status = self.process.pid, self.process.exitcode
        raise TaskError(f"{where}: its process {pid} ended with status {status}")

    def close(self) -> None:
        """End the process, gently and then firmly."""
        self.tell(STOP)
        self.process.join(2.0)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


class Crew:
    """The processes that step the environments of one group."""

    def __init__(self, task: Task, slots: Sequence[Slot], workers: int) -> None:
        self.task = task
        layout = Layout(len(slots), len(task.features), len(task.actions))
        self.hands: list[Hand] = []
        with _nameless_memory(layout.size) as handle:
            self.actions, self.outcome, self.episode = layout.parts(mmap.mmap(handle, layout.size))
            try:
                self._start(layout, slots, workers, handle)
                self.wait()  # for the first observations
            except BaseException:
                self.close()
                raise

    def _start(self, layout: Layout, slots: Sequence[Slot], workers: int, memory: int) -> None:
        context = multiprocessing.get_context("spawn")
        fewest = -(-len(slots) // (self.task.per_process or len(slots)))
        workers = max(fewest, min(workers, len(slots)))
        for rows in np.array_split(np.arange(len(slots)), workers):
            ours, theirs = context.Pipe()
            own = [slots[row] for row in rows]
            process = context.Process(
                target=_step_environments,
                args=(self.task, layout, rows, own, theirs),
                daemon=True,
            )
            start_deaf(process)
            theirs.close()  # so that the death of the process ends our pipe
            self.hands.append(Hand(process, ours, rows))
            with _as_socket(ours) as way:
                socket.send_fds(way, [GO], [memory])

    def go(self) -> None:
        """Let every environment take one step with its action."""
        for hand in self.hands:
            hand.tell(GO)

    def wait(self) -> None:
        """Wait until every environment has taken its step."""
        for hand in self.hands:
            hand.wait(self.task.name)

    def close(self) -> None:
        """Stop the processes; may be called twice."""
        for hand in self.hands:
            hand.close()
        self.hands = []


@contextlib.contextmanager
def _nameless_memory(size: int) -> Iterator[int]:
    """Give a handle of shared memory that no name keeps: it ends with its last process."""
    handle = os.memfd_create("icct-crew")
    try:
        os.ftruncate(handle, size)
        yield handle
    finally:
        os.close(handle)


def _as_socket(pipe: Connection) -> socket.socket:
    """Return the pipe as what it is, to send a handle through it."""
    return socket.socket(fileno=os.dup(pipe.fileno()))


def _step_environments(
    task: Task,
    layout: Layout,
    rows: NDArray[np.intp],
    slots: Sequence[Slot],
    pipe: Connection,
) -> None:
    """Step some environments whenever told to; the main function of a process."""
    with _as_socket(pipe) as way:
        _, (handle,), _, _ = socket.recv_fds(way, 1, 1)
    actions, outcome, episode = layout.parts(mmap.mmap(handle, layout.size))
    runners: list[_Runner] = []
    try:
        # A spare beside each environment hides the time of a reset, where there is room for it.
        copies = 2 if task.per_process is None or 2 * len(rows) <= task.per_process else 1
        for row, slot in zip(rows, slots, strict=True):
            pair = [open_env(task) for _ in range(copies)]
            runners.append(_Runner(pair, slot, actions[row], outcome[row], episode[row]))
        os.write(pipe.fileno(), DONE)
        while os.read(pipe.fileno(), 1) == GO:
            for runner in runners:
                runner.step()
            os.write(pipe.fileno(), DONE)
            for runner in runners:  # while the trainer acts
                runner.prepare()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the trainer is gone
    except IcctError as error:
        _complain(pipe, error)
    except Exception:
        _complain(pipe, TaskError(f"a process failed.\n{traceback.format_exc()}"))
    finally:
        for runner in runners:
            runner.close()


def _complain(pipe: Connection, error: IcctError) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # nobody is there to hear it
        os.write(pipe.fileno(), FAILED)
        pipe.send(error)


class _Runner:
    """One member's environment, a spare to begin its next episode in, and its rows of memory."""

    def __init__(
        self,
        environments: list[Any],
        slot: Slot,
        action: NDArray[np.float32],
        outcome: NDArray[np.float32],
        episode: NDArray[np.float32],
    ) -> None:
        self.environments, self.slot = environments, slot
        self.action, self.outcome, self.episode = action, outcome, episode
        self.size = (len(outcome) - 2) // 2
        self.number = slot.episode
        self.ready: NDArray[np.float32] | None = None  # first observation in the spare
        self.begin()
        for played in slot.played if slot.played is not None else ():
            self.action[:] = played
            self.step()

    def begin(self) -> None:
        """Start the next episode, in the spare if it is prepared."""
        if self.ready is None:
            self.prepare(0)
        self.environments.reverse()  # with a single one, nothing moves
        self.outcome[self.size : 2 * self.size] = self.ready
        self.ready = None
        self.total, self.length = 0.0, 0

    def prepare(self, ahead: int = 1) -> None:
        """Reset the spare for the episode that is so many ahead of the running one."""
        if self.ready is None and (len(self.environments) > 1 or ahead == 0):
            seed = training_seed(self.slot.seed, self.number + ahead)
            self.ready, _ = self.environments[-1].reset(seed=seed)

    def step(self) -> None:
        """Take one step with the action in memory; begin a new episode when this one ends."""
        step = self.environments[0].step(self.action.copy())
        observation, reward, terminated, truncated, _ = step
        ended = terminated or truncated
        self.total += reward
        self.length += 1
        self.outcome[: self.size] = observation
        self.outcome[-2] = reward
        self.outcome[-1] = terminated or (truncated and self.slot.horizon_ends)
        self.episode[:] = (self.number, ended, self.total, self.length)
        if ended:
            self.number += 1
            self.begin()
        else:
            self.outcome[self.size : 2 * self.size] = observation

    def close(self) -> None:
        """Close the environments."""
        for environment in self.environments:
            environment.close()
