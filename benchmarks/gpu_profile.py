"""Where the time of a population's step goes on a GPU: kernels of an update, parts of a step.

python benchmarks/gpu_profile.py 72
"""

import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

from icct.learn.config import make_config
from icct.learn.device import choose_device
from icct.learn.group import Group


def main(members: int) -> None:
    """Print the tables."""
    config = make_config(
        "lunar-lander",
        "icct-2-feature",
        seeds=tuple(range(members)),
        batch_size=256,
        learning_starts=100,
        steps=50_000,
    )
    group = Group(config, choose_device("cuda"), compile_update=True)
    group.start(workers=14)
    for step in range(1, 400):
        group.advance()
        if step > 100:
            group.learn(step)
    torch.cuda.synchronize()
    for program, arguments in ((group._store_and_act, ()), (group._update, (True,))):
        began = time.perf_counter()
        for _ in range(200):
            group.programs.run(program, *arguments)
        torch.cuda.synchronize()
        took = 1000 * (time.perf_counter() - began) / 200
        print(f"{members} members, {program.__name__}: {took:.3f} ms")
    parts = dict.fromkeys(("wait", "receive", "act", "send", "learn"), 0.0)
    for step in range(300):
        marks = [time.perf_counter()]
        group.crew.wait()
        marks.append(time.perf_counter())
        group._seen[:] = group.crew.outcome
        marks.append(time.perf_counter())
        group._episodes_ended(group.crew)
        group.programs.run(group._store_and_act)
        marks.append(time.perf_counter())
        group._send(group.crew)
        marks.append(time.perf_counter())
        group.learn(step)
        marks.append(time.perf_counter())
        for name, begin, end in zip(parts, marks, marks[1:], strict=False):
            parts[name] += end - begin
    print({name: f"{1000 * total / 300:.3f} ms" for name, total in parts.items()})
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(20):
            group.programs.run(group._update, True)
        torch.cuda.synchronize()
    table = profiled.key_averages().table(
        sort_by="cuda_time_total", row_limit=22, max_name_column_width=60
    )
    print("\n".join(line[:62] + line[-60:] for line in table.splitlines()))
    group.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]))
