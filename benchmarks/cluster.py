"""A small bench on a real Ray cluster of two nodes: the same records, whatever is killed.

    python benchmarks/cluster.py same     local runner, local cluster, `ray start` with two nodes
    python benchmarks/cluster.py kills    SIGKILL to a worker, then a node, then the driver
    python benchmarks/cluster.py scaling  runs per hour with one and two workers

Two tasks, three methods, two seeds, few steps, on the CPU. Both nodes are processes of this
machine with one CPU each. Records are compared in all but times; a record that was there when the
driver was killed must not be written again. Ends with status 1 where anything differs.
"""

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RAY = Path(sys.executable).parent / "ray"
TIMES = {"started", "elapsed_s"}  # what two runs of one record may differ in
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",  # on every node, and for the driver
    "RAY_AUTH_TOKEN": uuid.uuid4().hex,
    "RAY_worker_niceness": "0",  # as the local runner has it; Ray takes 15
    "OMP_NUM_THREADS": "1",
}
SWEEP = (
    "bench table1 --tasks inverted-pendulum lunar-lander --methods icct-static icct-2-feature "
    "mlp-lower --seeds 2 --recipe paper --device cpu --workers 1 --episodes 10 --no-forecast "
    "--checkpoint-minutes 0.03"
)
TRAINING = (
    "-- --steps {steps} --learning-starts 300 --batch-size 32 --evaluate-every 500 "
    "--evaluate-episodes 2"
)
RECORDS = 12
PATIENCE_S = 900.0
STARTS_WITHIN_S = 8.0  # a node, once it has its raylet


def main() -> int:
    """Do what is asked, and return 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("same", "kills", "scaling"))
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--keep", type=Path, help="a folder for what is made (default: none)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cl-") as name:
        place = options.keep or Path(name)
        place.mkdir(parents=True, exist_ok=True)
        wrong = {"same": same, "kills": kills, "scaling": scaling}[options.what](
            place, options.steps
        )
    print("\n".join(wrong) or "nothing differs")
    return 1 if wrong else 0


# -- the three experiments ------------------------------------------------------------------------


def same(place: Path, steps: int) -> list[str]:
    """Run the sweep three times, and return where its records differ."""
    reference = _reference(place, steps)
    wrong = []
    _timed("cluster local", lambda: _sweep(place / "local", steps, "--cluster", "local"))
    wrong += _differences(place / "local", reference, "cluster local")
    with two_nodes() as (address, _):
        _timed("ray start, two nodes", lambda: _sweep(place / "two", steps, "--cluster", address))
    return wrong + _differences(place / "two", reference, "ray start, two nodes")


def kills(place: Path, steps: int) -> list[str]:
    """Kill a worker, a node and the driver, start the driver again, and compare."""
    reference, folder = _reference(place, steps), place / "killed"
    with two_nodes() as (address, second):
        driver = _started(folder, steps, "--cluster", address)
        worker = _await(lambda: _busy_worker(folder, other_than=second), driver)
        _kill(worker, "a worker of the first node")
        raylet = _await(lambda: _busy_raylet(folder, second), driver)
        _kill(raylet, "the raylet of the second node")
        _await(lambda: _records(folder) and _busy_worker(folder, other_than=second), driver)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        before = {path: path.stat().st_ino for path in _records(folder)}
        print(f"killed the driver; {len(before)} records are there", flush=True)
        _sweep(folder, steps, "--cluster", address)
    wrong = _differences(folder, reference, "after the kills")
    wrong += [
        f"{p.name} was written again" for p, node in before.items() if p.stat().st_ino != node
    ]
    logs = "".join(path.read_text() for path in (folder / "runs").glob("*.log"))
    begun, resumed = (len(re.findall(f"icct train {kind}", logs)) for kind in (r"\w", "--resume"))
    recorded = logs.count("icct bench record")
    print(f"runs begun {begun} times, resumed {resumed} times; {recorded} recordings, for 6 runs")
    return wrong


def scaling(place: Path, steps: int) -> list[str]:
    """Print runs per hour with one and with two workers of a local cluster."""
    for jobs in (1, 2):
        words = ("--cluster", "local", "--jobs", str(jobs))
        took_s = _timed(
            f"{jobs} at a time", lambda w=words, j=jobs: _sweep(place / f"{j}", steps, *w)
        )
        print(f"{6 * 3600 / took_s:.0f} runs an hour, {RECORDS * 3600 / took_s:.0f} records")
    return _differences(place / "2", place / "1", "two workers")


# -- sweeps and their records ---------------------------------------------------------------------


def _reference(place: Path, steps: int) -> Path:
    folder = place / "reference"
    if len(_records(folder)) < RECORDS:
        _timed("local runner", lambda: _sweep(folder, steps, "--jobs", "2"))
    return folder


def _started(folder: Path, steps: int, *options: str) -> "subprocess.Popen[bytes]":
    words = [*SWEEP.split(), "--results", f"{folder}/results", "--out", f"{folder}/runs", *options]
    words += TRAINING.format(steps=steps).split()
    return subprocess.Popen([sys.executable, "-m", "icct.cli.main", *words], env=ENVIRONMENT)


def _sweep(folder: Path, steps: int, *options: str) -> None:
    if _started(folder, steps, *options).wait(PATIENCE_S):
        raise SystemExit(f"the sweep in {folder} failed")


def _timed(name: str, work: Callable[[], None]) -> float:
    load, began = os.getloadavg()[0], time.monotonic()
    work()
    took_s = time.monotonic() - began
    print(f"{name}: {took_s:.0f} s (load of the machine before: {load:.1f})", flush=True)
    return took_s


def _records(folder: Path) -> list[Path]:
    return sorted((folder / "results").glob("*.json"))


def _differences(folder: Path, reference: Path, name: str) -> list[str]:
    ours, theirs = ({p.name: _content(p) for p in _records(f)} for f in (folder, reference))
    wrong = [f"{name}: {len(ours)} records, expected {RECORDS}"] if len(ours) != RECORDS else []
    wrong += [f"{name}: {file} differs" for file in ours if ours[file] != theirs.get(file)]
    print(f"{name}: {len(ours)} records, {len(ours) - len(wrong)} equal to the reference")
    return wrong


def _content(path: Path) -> dict[str, Any]:
    return {key: value for key, value in json.loads(path.read_text()).items() if key not in TIMES}


# -- nodes and what runs on them ------------------------------------------------------------------


@contextmanager
def two_nodes() -> Iterator[tuple[str, int]]:
    """Start a head node and a second one with one CPU each; yield the address and the second."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    usual = ["--num-cpus", "1", "--disable-usage-stats", "--block", "--node-ip-address=127.0.0.1"]
    usual += ["--object-store-memory", str(2**27)]
    port = address.partition(":")[2]
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="ray-") as place:
        head = ["--head", "--port", port, "--include-dashboard", "false", "--temp-dir", place]
        nodes = [_node([*head, *usual], place)]
        try:
            _await(lambda: _raylet(nodes[0].pid), nodes[0])
            time.sleep(STARTS_WITHIN_S)
            nodes.append(_node(["--address", address, *usual], place))
            _await(lambda: _raylet(nodes[1].pid), nodes[1])
            time.sleep(STARTS_WITHIN_S)
            yield address, nodes[1].pid
        finally:
            for node in reversed(nodes):
                for process in [*_descendants(node.pid), node.pid]:
                    _end(process)
                node.wait()


def _node(words: list[str], place: str) -> "subprocess.Popen[bytes]":
    with Path(place, "start.log").open("ab") as log:
        command = [str(RAY), "start", *words]
        return subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT)


def _descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    found = []
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    waiting = [process]
    while waiting:
        parent = waiting.pop()
        children = [pid for pid, owner in pairs if owner == parent]
        found += children
        waiting += children
    return found


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _busy_worker(folder: Path, other_than: int) -> int | None:
    """Return a worker, not of one node, in the middle of a run that has a checkpoint."""
    elsewhere = set(_descendants(other_than))
    for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
        command = _command(process)
        if "icct.cluster.command" in command and _saved(command, folder):
            worker = _parent(process)
            if worker is not None and worker not in elsewhere:
                return worker
    return None


def _busy_raylet(folder: Path, node: int) -> int | None:
    """Return the raylet of a node that is in the middle of a run that has a checkpoint."""
    commands = map(_command, _descendants(node))
    busy = any("icct.cluster.command" in c and _saved(c, folder) for c in commands)
    return _raylet(node) if busy else None


def _raylet(node: int) -> int | None:
    """Return the process of a node that speaks for it."""
    return next((p for p in _descendants(node) if "raylet/raylet" in _command(p)), None)


def _saved(command: str, folder: Path) -> bool:
    """Return whether a command trains in a run folder of the sweep that has a checkpoint."""
    found = re.search(rf"{re.escape(str(folder))}/runs/[\w.-]+", command)
    return found is not None and Path(found[0], "checkpoint.safetensors").exists()


def _parent(process: int) -> int | None:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _await(look: Callable[[], Any], driver: "subprocess.Popen[bytes]") -> Any:
    until = time.monotonic() + PATIENCE_S
    while not (found := look()):
        if driver.poll() is not None or time.monotonic() > until:
            raise SystemExit("it ended before everything was killed; take more --steps")
        time.sleep(0.2)
    return found


def _kill(process: int, what: str) -> None:
    os.kill(process, signal.SIGKILL)
    print(f"killed {what}, process {process}", flush=True)


def _end(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
