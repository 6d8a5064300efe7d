"""Episodes on a cluster: what `EpisodePool` is to the processes of one machine.

An episode depends on its actor and its seed alone, so who plays it changes nothing but the time.
What a lost worker was playing, Ray lets another play.
"""

from collections.abc import Callable, Sequence
from typing import Any

from icct.cluster.drive import RETRIES
from icct.envs.episodes import LOOK_EVERY_S, Job, Player
from icct.envs.task import Task
from icct.errors import IcctError, TaskError

_open: dict[Task, Player] = {}  # in a worker of the cluster: the simulator it played with last


class ClusterPool:
    """Players of one task, one for each CPU of a cluster.

    Args:
        ray: The module, connected.
        task: What is played; its simulator must be installed on every node.
        check: Called now and then; what it raises ends the playing.
    """

    def __init__(self, ray: Any, task: Task, check: Callable[[], None] | None = None) -> None:
        self._ray, self._check = ray, check
        self._task = ray.put(task)
        self._play = ray.remote(play).options(num_cpus=1, max_retries=RETRIES)
        self._asked: list[Any] = []
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def answers(self, jobs: Sequence[Job]) -> list[Any]:
        """Return what each job gives, in their order."""
        ray = self._ray
        self._asked = [self._play.remote(self._task, job) for job in jobs]
        waiting = self._asked
        while waiting:
            if self._check is not None:
                self._check()
            _, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=LOOK_EVERY_S)
        asked, self._asked = self._asked, []
        try:
            answers: list[Any] = ray.get(asked)
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, IcctError):
                raise cause from None
            raise TaskError(f"the cluster could not play: {error}") from None
        return answers

    def close(self) -> None:
        """Drop what is not played yet."""
        for ref in self._asked:
            self._ray.cancel(ref, force=True)
        self._asked = []


def play(task: Task, job: Job) -> Any:
    """Play a job; runs in a worker of the cluster, which keeps the simulator for the next one."""
    if task not in _open:
        for player in _open.values():
            player.close()
        _open.clear()
        _open[task] = Player(task)
    return _open[task](job)
