"""A command as a process that does not outlive the process that started it.

Ray ends a worker by SIGKILL, and a lost node ends all of its own. What such a worker had started
would go on writing to a run folder while another worker takes the run up. The kernel ends it.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import icct

LOOK_EVERY_S = 0.2
WAITS_S = 20.0  # for a command to save what it has, before it is killed
PR_SET_PDEATHSIG = 1  # of prctl(2)
BOUND = (
    "from icct.cluster.command import bind; bind({parent}); "
    "from icct.cli.main import main; raise SystemExit(main())"
)


def run_command(words: Sequence[str], log: Path, cwd: Path, threads: int) -> int:
    """Run `icct` with some words, its output in a log, and return its exit status.

    Interrupted, it asks the command to save and end, and gives it some time for that.
    """
    package = str(Path(icct.__file__).parents[1])  # the child computes with the icct of its parent
    paths = [package, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, paths))),
        "OMP_NUM_THREADS": str(threads),
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", BOUND.format(parent=os.getpid()), *words],
            stdout=output,
            stderr=output,
            cwd=cwd,
            env=environment,
        )
    try:
        while process.poll() is None:
            time.sleep(LOOK_EVERY_S)  # in short: an interrupt is heard between two of them
        return process.returncode
    except BaseException:
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(WAITS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def bind(parent: int) -> None:
    """Let this process end when the one that started it does, however that ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we could ask
        raise SystemExit(1)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
