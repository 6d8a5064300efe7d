"""Many resets and closes in one process: no growing memory, no leaked file handle."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest

import icct.envs
from icct.envs.catalog import TASKS

ROUNDS = 200
WARM_UP = 40  # rounds until caches and the allocator have settled
MARKS = {
    "single-lane-ring": [pytest.mark.sumo],
    "multi-lane-ring": [pytest.mark.sumo, pytest.mark.slow],  # 750 steps of warm-up per reset
    "figure-eight": [pytest.mark.sumo],
}


def resident_mb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc, which is Linux's")
@pytest.mark.parametrize("task", [pytest.param(t, marks=MARKS.get(t, [])) for t in TASKS])
def test_200_resets_and_closes(task, record_property):
    begun = None
    for number in range(ROUNDS + WARM_UP):
        if number == WARM_UP:
            gc.collect()
            begun = resident_mb(), open_files()
        env = icct.envs.make(task)
        env.reset(seed=number)
        env.step(np.zeros(env.action_space.shape))
        env.close()
    gc.collect()
    record_property("growth_mb", resident_mb() - begun[0])
    assert resident_mb() - begun[0] < 8
    assert open_files() == begun[1]
