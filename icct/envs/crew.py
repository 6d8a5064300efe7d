"""Environments stepping in processes of their own, several in each, through shared memory.

The trainer writes raw actions and says go; while it updates, the processes step; then it waits for
them. What an environment did lies in one row of shared memory that is copied to the device as it
is. benchmarks/stepping.py measures this beside Gymnasium's AsyncVectorEnv. Never imports torch:
its processes would, at seconds and hundreds of MB each.
"""

import contextlib
import multiprocessing
import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.envs.catalog import Task
from icct.envs.worker import start_deaf
from icct.errors import IcctError, TaskError

ANSWER_WITHIN_S = 120.0
ORPHANED_AFTER_S = 5.0  # how often an idle process looks whether its parent is still there
STOP = -1.0


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


class Crew:
    """The processes that step the environments of one group."""

    def __init__(
        self, task: Task, slots: Sequence[Slot], workers: int, options: dict[str, Any] | None = None
    ) -> None:
        self.task = task
        layout = Layout(len(slots), len(task.features), len(task.actions))
        self._memory = SharedMemory(create=True, size=layout.size)
        self.actions, self.outcome, self.episode = layout.parts(self._memory.buf)
        self._processes: list[tuple[Any, ...]] = []
        self._closed = False
        try:
            self._start(layout, slots, workers, options or {})
            self.wait()  # for the first observations
        except BaseException:
            self.close()
            raise

    def _start(
        self, layout: Layout, slots: Sequence[Slot], workers: int, options: dict[str, Any]
    ) -> None:
        task, context = self.task, multiprocessing.get_context("spawn")
        workers = len(slots) if task.extra == "sumo" else min(workers, len(slots))
        for rows in np.array_split(np.arange(len(slots)), workers):
            go, done = context.Semaphore(0), context.Semaphore(0)
            ours, theirs = context.Pipe(duplex=False)
            own = [slots[row] for row in rows]
            process = context.Process(
                target=_step_environments,
                args=(task.name, options, layout, self._memory.name, rows, own, go, done),
                kwargs={"complaints": theirs},
                daemon=True,
            )
            start_deaf(process)
            theirs.close()
            self._processes.append((process, go, done, ours, rows))

    def go(self) -> None:
        """Let every environment take one step with its action."""
        for _, go, _, _, _ in self._processes:
            go.release()

    def wait(self) -> None:
        """Wait until every environment has taken its step."""
        for process, _, done, complaints, rows in self._processes:
            if done.acquire(timeout=0.5):
                continue
            waited = time.monotonic()
            while not done.acquire(timeout=0.5):
                if complaints.poll() or not process.is_alive():
                    self._complain(process, complaints, rows)
                if time.monotonic() - waited > ANSWER_WITHIN_S:
                    raise TaskError(f"{self.task.name}: no answer in {ANSWER_WITHIN_S} s.")

    def close(self) -> None:
        """Stop the processes and give the memory back; may be called twice."""
        if self._closed:
            return
        self._closed = True
        self.actions[:] = np.nan
        self.episode[:, 1] = STOP
        self.go()
        for process, _, _, complaints, _ in self._processes:
            process.join(2.0)
            if process.is_alive():
                process.kill()
                process.join()
            complaints.close()
        self._processes = []
        del self.actions, self.outcome, self.episode
        self._memory.close()
        self._memory.unlink()

    def _complain(self, process: Any, complaints: Any, rows: NDArray[np.intp]) -> None:
        """Raise what a process complained about, or how it ended."""
        where = f"{self.task.name}, environments of members {', '.join(map(str, rows))}"
        with contextlib.suppress(EOFError):
            if complaints.poll():
                error: IcctError = complaints.recv()
                raise type(error)(f"{where}: {error}")
        process.join(1.0)
        raise TaskError(f"{where}: its process {process.pid} ended with status {process.exitcode}")


def training_seed(seed: int, episode: int) -> int:
    """Return the seed of a member's training episode; apart from those of any evaluation."""
    return int(np.random.SeedSequence((0x7EA1, seed, episode)).generate_state(1)[0])


def _step_environments(
    task: str,
    options: dict[str, Any],
    layout: Layout,
    memory_name: str,
    rows: NDArray[np.intp],
    slots: Sequence[Slot],
    go: Any,
    done: Any,
    complaints: Any,
) -> None:
    """Step some environments whenever told to; the main function of a process."""
    parent = os.getppid()
    memory = SharedMemory(name=memory_name)
    actions, outcome, episode = layout.parts(memory.buf)
    runners: list[_Runner] = []
    try:
        from icct.envs import find_task as task_of
        from icct.envs import make

        # A spare beside each environment hides the time of a reset; SUMO allows only one.
        copies = 1 if task_of(task).extra == "sumo" else 2
        for row, slot in zip(rows, slots, strict=True):
            pair = [make(task, **options) for _ in range(copies)]
            runners.append(_Runner(pair, slot, actions[row], outcome[row], episode[row]))
        done.release()
        while True:
            if not go.acquire(timeout=ORPHANED_AFTER_S):
                if os.getppid() != parent:
                    break
                continue
            if episode[rows[0], 1] == STOP:
                break
            for runner in runners:
                runner.step()
            done.release()
            for runner in runners:  # while the trainer acts
                runner.prepare()
    except IcctError as error:
        complaints.send(error)
    except Exception:
        complaints.send(TaskError(f"a process failed.\n{traceback.format_exc()}"))
    finally:
        for runner in runners:
            runner.close()
        runners.clear()
        with contextlib.suppress(BufferError):  # an array still in use; the process ends anyway
            del actions, outcome, episode
            memory.close()


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
