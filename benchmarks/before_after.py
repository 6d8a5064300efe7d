"""Is one version of icct faster than another? Both in the same call, in rounds that take turns.

python benchmarks/before_after.py OLD NEW                 updates/s of one member on the CPU
python benchmarks/before_after.py OLD NEW --device cuda   member-steps/s of 20 and 72 on the GPU

OLD and NEW are source folders (a checkout each). Nothing but `make_config` and `Group` is used,
which every version has. On the CPU a second is one of processor time, of one thread, so that other
work on the machine counts less.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROUNDS = 9
CASES = {
    "cpu": [
        ("1", "icct-2-feature", "eager"),
        ("1", "icct-2-feature", "compiled"),
        ("1", "mlp-max", "eager"),
        ("1", "mlp-max", "compiled"),
    ],
    "cuda": [("20", "icct-2-feature", "compiled"), ("72", "icct-2-feature", "compiled")],
}


def serve(device: str, members: int, method: str, compiled: bool, workers: int) -> None:
    """Answer each number of seconds on stdin with a rate on stdout; the other side of `Version`."""
    import torch

    from icct.learn.config import make_config
    from icct.learn.device import choose_device
    from icct.learn.group import Group

    if device == "cpu":
        torch.set_num_threads(1)
    clock = time.process_time if device == "cpu" else time.perf_counter
    config = make_config(
        "lunar-lander",
        method,
        seeds=tuple(range(members)),
        batch_size=256,
        buffer_size=20_000 if device == "cpu" else 1_000_000,
        learning_starts=1000,
        steps=1_000_000,
    )
    group = Group(config, choose_device(device), compiled)
    step = 0

    def update() -> None:
        nonlocal step
        step += 1
        group.step.add_(1)
        group.learn(step)

    def advance() -> None:
        nonlocal step
        step += 1
        group.advance()
        if step > 1000:
            group.learn(step)

    if device == "cpu":
        group.replay.rows.normal_(generator=torch.Generator().manual_seed(0))
        group.replay.rows[..., -1] = 0
        group.replay.stored += group.replay.rows.shape[1]
        work, warm_up = update, 5
    else:
        group.start(workers)
        work, warm_up = advance, 1100
    for _ in range(warm_up):
        work()
    print("ready", flush=True)
    for line in sys.stdin:
        count, began = 0, clock()
        while clock() - began < float(line):
            work()
            count += 1
        if device == "cuda":
            torch.cuda.synchronize()
        print(members * count / (clock() - began), flush=True)
    group.stop()


class Version:
    """One version at work, in a process of its own."""

    set_up_s = 0.0

    def __init__(self, source: Path, words: list[str]) -> None:
        elsewhere = filter(None, [os.environ.get("PYTHONPATH")])  # where dependencies may be
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=source,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source.resolve()), *elsewhere])},
        )
        self._began = time.monotonic()

    def wait_until_ready(self) -> None:
        """Wait until it can be asked for a rate."""
        self._answer("ready")
        self.set_up_s = time.monotonic() - self._began

    def rate(self, seconds: float) -> float:
        """Return how many steps or updates it does in a second."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return float(self._answer())

    def _answer(self, expected: str | None = None) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line or expected not in (None, line):
            raise SystemExit(f"a version ended: {line!r}")
        return line

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def main() -> None:
    """Print a table of rates and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, help="a checkout")
    parser.add_argument("new", type=Path, help="another")
    parser.add_argument("--device", choices=CASES, default="cpu")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--workers", type=int, default=max(1, len(os.sched_getaffinity(0)) - 2))
    parser.add_argument("--only", help="cases with this word: eager, compiled, mlp-max, 72")
    options = parser.parse_args()
    cases = [case for case in CASES[options.device] if options.only in (None, *case)]
    pairs = [  # all of them set up side by side; then they work one at a time
        [
            Version(source, [options.device, *case, str(options.workers)])
            for source in (options.old, options.new)
        ]
        for case in cases
    ]
    for version in (version for pair in pairs for version in pair):
        version.wait_until_ready()
    print("| members | method | | old, per s | new, per s | new / old | set-up, s |", flush=True)
    print("|---|---|---|---|---|---|---|", flush=True)
    for case, pair in zip(cases, pairs, strict=True):
        rates = [[version.rate(options.seconds) for version in pair] for _ in range(options.rounds)]
        old, new = (median(column) for column in zip(*rates, strict=True))
        ratio = median(b / a for a, b in rates)
        low, high = min(b / a for a, b in rates), max(b / a for a, b in rates)
        took = " and ".join(f"{version.set_up_s:.0f}" for version in pair)
        numbers = f"{old:,.1f} | {new:,.1f} | {ratio:.3f} ({low:.2f} to {high:.2f}) | {took}"
        print(f"| {' | '.join(case)} | {numbers} |", flush=True)
    for version in (version for pair in pairs for version in pair):
        version.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        kind, count, named, how, processes = sys.argv[2:]
        serve(kind, int(count), named, how == "compiled", int(processes))
    else:
        main()
