"""Run by test_drive.py in a process of its own: a real Ray cluster of two workers, with a kill.

Ray leaves processes to their end and warns of what it does; pytest takes both for errors.
"""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from icct.cluster.connect import connected, room_for
from icct.cluster.drive import Share, drive
from icct.cluster.episodes import ClusterPool
from icct.envs.catalog import TASKS
from icct.policy import Controller, Leaf, Policy
from icct.polish import PolishConfig, polish
from icct.work.piece import Piece

PENDULUM = TASKS["inverted-pendulum"]
TINY = PolishConfig(evaluations=200, validation_episodes=10, report_episodes=0)


def falling() -> Policy:
    rule = Leaf((Controller((), 1.0),))
    return Policy("falling", PENDULUM.features, PENDULUM.actions, (rule,), squash="clip")


def search_gives_what_one_process_gives(ray) -> None:
    """A search on the cluster, and the same in this process."""
    here = polish(falling(), PENDULUM, TINY, workers=1)
    there = polish(falling(), PENDULUM, TINY, pool=lambda task, check: ClusterPool(ray, task))
    assert there.policy == here.policy
    assert there.validation == here.validation
    assert there.episodes == here.episodes


def killed_work_begins_again(ray, tmp_path: Path) -> None:
    """Four pieces of work, the worker of one of which is killed."""
    show = Piece("show", "t", ("show", "zoo:ring-cruiser"), ())
    wrong = Piece("wrong", "t", ("show", "zoo:nothing"), ())
    later = Piece("later", "t", ("show", "zoo:ring-cruiser"), (), needs=(tmp_path / "never",))
    long = Piece("long", "t", ("bench", "growing", "--steps", "1000000"), ())
    said: list[str] = []
    killer = threading.Thread(target=kill_then_stop, args=(tmp_path / "long.log", said))
    killer.start()
    outcome = drive(
        [long, show, wrong, later],
        ray,
        share=Share(cpus=1),
        logs=tmp_path,
        say=said.append,
    )
    killer.join()
    assert (outcome.done, outcome.failed) == (["show"], ["wrong"])
    assert outcome.stopped == ["long", "later"]
    assert "ring-cruiser: 3 leaves" in (tmp_path / "show.log").read_text()
    assert any("status 2, see" in line for line in said)
    assert "stopping; the same command goes on later" in said
    attempts = workers_of(tmp_path / "long.log")
    assert len(attempts) == len(set(attempts)) == 2  # the killed one, and another
    assert not any(alive_under(worker) for worker in attempts)


def workers_of(log: Path) -> list[int]:
    """Return the workers that have begun a piece, by its log."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [int(line.split("worker ")[1].split(":")[0]) for line in lines if line.startswith("# ")]


def kill_then_stop(log: Path, said: list[str]) -> None:
    """Kill the worker of a piece; when another has begun and the rest is done, press Ctrl-C."""
    while not workers_of(log):
        time.sleep(0.05)
    time.sleep(0.5)  # until its command runs
    os.kill(workers_of(log)[0], signal.SIGKILL)
    while len(workers_of(log)) < 2 or len(said) < 2:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def alive_under(worker: int) -> bool:
    """Return whether a command of a worker is alive."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            if f"bind({worker})".encode() in entry.read_bytes():
                return True
    return False


def room_is_counted(ray) -> None:
    """How many pieces of work fit."""
    assert room_for(ray, 1.0, 0.0) == 2
    assert room_for(ray, 0.5, 0.0) == 4
    assert room_for(ray, 3.0, 0.0) == 0
    assert room_for(ray, 1.0, 0.25) == 0  # there is no GPU


def main() -> None:
    """Start the cluster, with a secret of its own, and try all of it."""
    os.environ |= {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": "a-secret-of-the-tests-alone-1234",
        "RAY_worker_niceness": "0",
    }
    place = Path(sys.argv[1])
    os.chdir(place)
    with connected("local", cpus=2) as ray:
        room_is_counted(ray)
        search_gives_what_one_process_gives(ray)
        killed_work_begins_again(ray, place)
    print("all is well")


if __name__ == "__main__":
    main()
