"""How many steps a second the live view shows in a browser, and what memory it takes.

    python benchmarks/view_rate.py                          20 s for each traffic task
    python benchmarks/view_rate.py --seconds 1200 --tasks multi-lane-ring --every 60

A tree of 16 leaves plays one episode after the other, as fast as it goes, in headless Chromium. The
updates are counted in the page, after each has been drawn. Memory is that of the server, of its
simulator and of the page's JavaScript after its garbage was collected.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from icct.envs.catalog import TASKS
from icct.envs.task import Task
from icct.policy import Controller, Leaf, Policy, Provenance, Split
from icct.policy.file import write_policy

DEPTH = 4
TRAFFIC = ("single-lane-ring", "multi-lane-ring", "figure-eight")


def full_tree(task: Task, seed: int = 5) -> Policy:
    """Return a complete tree of 16 leaves over the speeds and lanes of a traffic task."""
    rng = np.random.default_rng(seed)
    asked = [i for i, f in enumerate(task.features) if not f.name.startswith("position")]
    ego = task.features.index(next(f for f in task.features if f.name == "speed_ego"))
    nodes: list[Split | Leaf] = []

    def grow(depth: int) -> int:
        place = len(nodes)
        nodes.append(Leaf(()))
        if depth == 0:
            weights = {ego: float(-rng.uniform(5, 30)), int(rng.choice(asked)): 0.5}
            rules = [
                Controller(tuple(weights.items()), float(rng.uniform(2, 5))) for _ in task.actions
            ]
            nodes[place] = Leaf(tuple(rules))
        else:
            threshold = round(float(rng.uniform(0.1, 0.4)), 3)
            nodes[place] = Split(
                int(rng.choice(asked)), threshold, grow(depth - 1), grow(depth - 1)
            )
        return place

    grow(DEPTH)
    origin = Provenance(task=task.name, history=("made to measure the live view",))
    return Policy(f"{task.name}-16", task.features, task.actions, tuple(nodes), "clip", origin)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def cpu_s(pids: list[int]) -> float:
    """Return the processor time that some processes have used."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, all generations."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    threads = [t.name for t in Path(f"/proc/{pid}/task").iterdir() if t.name != str(pid)]
    for thread in threads:
        found += Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
    return [int(child) for child in found] + [g for child in found for g in children(int(child))]


def measure(page: Page, server: int, seconds: float, every: float) -> None:
    """Print a line of measurements every so many seconds."""
    probe = page.context.new_cdp_session(page)
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        sides = [server, *children(server)], children(os.getpid())
        ours, all_of_it = (cpu_s(side) for side in sides)
        before, shown = time.monotonic(), page.evaluate("icctView.state.drawn")
        page.wait_for_timeout(1000 * every)
        now, drawn = time.monotonic(), page.evaluate("icctView.state.drawn")
        ours, all_of_it = cpu_s(sides[0]) - ours, cpu_s(sides[1]) - all_of_it
        probe.send("HeapProfiler.collectGarbage")
        heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        simulators = sum(resident_mb(child) for child in children(server))
        print(
            f"  {now - begin:6.0f} s  {(drawn - shown) / (now - before):6.1f} updates/s   "
            f"server {resident_mb(server):6.1f} MB   simulator {simulators:6.1f} MB   "
            f"page {heap:5.1f} MB   cores: server and simulator {ours / (now - before):.2f}, "
            f"browser {(all_of_it - ours) / (now - before):.2f}, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


def main() -> None:
    """Measure the traffic tasks one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two lines")
    parser.add_argument("--speed", default="1000", help="of the page's menu; 1000 is its max")
    parser.add_argument("--tasks", nargs="+", default=TRAFFIC)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--enable-precise-memory-info"],
        )
        for name in options.tasks:
            file = Path(folder) / f"{name}.json"
            write_policy(full_tree(TASKS[name]), file)
            command = [sys.executable, "-m", "icct.cli.main", "view", str(file), "--no-browser"]
            server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            assert server.stderr is not None
            try:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(server.stderr.readline().strip())
                page.locator("#app[data-step='0']").wait_for(timeout=60_000)
                page.select_option("#speed", options.speed)
                page.check("#loop")
                page.click("#play")
                page.wait_for_timeout(2000)
                print(f"{name}, a tree of {2**DEPTH} leaves, 1280 x 800:", flush=True)
                measure(page, server.pid, options.seconds, options.every)
                page.close()
            finally:
                server.terminate()
                server.wait(20)
        browser.close()


if __name__ == "__main__":
    main()
