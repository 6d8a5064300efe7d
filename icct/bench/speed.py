"""How fast training is, beside named peers in the same run.

Updates per second of one member against Stable-Baselines3's SAC and SBX's with the same critics,
and, on a GPU, member-steps per second of whole populations with their environments.
"""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from icct.learn.config import TrainConfig, make_config
from icct.learn.group import Group
from icct.learn.train import choose_device

ROUNDS = 5  # a rate is the median of so many


@dataclass(frozen=True)
class Rate:
    """One measured rate."""

    what: str
    per_s: float
    set_up_s: float  # compiling and capturing, or constructing


def machine(device: str) -> str:
    """Return what the numbers were measured on."""
    cores = len(os.sched_getaffinity(0))
    gpu = f", {torch.cuda.get_device_name()}" if device == "cuda" else ""
    return f"Python {platform.python_version()}, torch {torch.__version__}, {cores} cores{gpu}"


def update_rate(
    config: TrainConfig, device: str = "cpu", compile_update: bool = False, seconds: float = 2.0
) -> Rate:
    """Return our updates per second of a population, without environments."""
    began = time.perf_counter()
    group = Group(config, choose_device(device), compile_update)
    group.replay.rows.normal_()
    group.replay.rows[..., -1] = 0
    group.replay.stored += group.replay.rows.shape[1]
    phase = 0

    def update() -> None:
        nonlocal phase
        group.step += 1
        group.learn(phase)
        phase += 1

    update()
    _wait(group)
    set_up = time.perf_counter() - began
    return Rate(_named(config), _per_second(update, lambda: _wait(group), seconds), set_up)


def whole_rate(
    config: TrainConfig, device: str, workers: int, compile_update: bool, seconds: float = 20.0
) -> Rate:
    """Return member-steps per second with environments and one update for each step."""
    began = time.perf_counter()
    group = Group(config, choose_device(device), compile_update)
    group.start(workers)
    step = 0

    def advance() -> None:
        nonlocal step
        step += 1
        group.advance()
        if step > config.learning_starts:
            group.learn(step)

    try:
        while step <= config.learning_starts + 10:
            advance()
        _wait(group)
        set_up = time.perf_counter() - began
        rate = _per_second(advance, lambda: _wait(group), seconds)
    finally:
        group.stop()
    return Rate(_named(config), rate * config.members, set_up)


def stable_baselines3_rate(batch_size: int, seconds: float = 2.0) -> Rate:
    """Return Stable-Baselines3's SAC updates per second on the CPU."""
    from stable_baselines3 import SAC

    return _peer_rate(SAC, "Stable-Baselines3 SAC", batch_size, seconds)


def sbx_rate(batch_size: int, seconds: float = 2.0) -> Rate:
    """Return SBX's (JAX) SAC updates per second on the CPU."""
    from sbx import SAC

    return _peer_rate(SAC, "SBX SAC", batch_size, seconds)


def _peer_rate(algorithm: Any, name: str, batch_size: int, seconds: float) -> Rate:
    from icct.envs import make

    began = time.perf_counter()
    options: dict[str, Any] = {"net_arch": [256, 256]}
    extra = {"device": "cpu"} if "Baselines3" in name else {}
    model = algorithm(
        "MlpPolicy",
        make("lunar-lander"),
        batch_size=batch_size,
        learning_starts=100,
        buffer_size=20_000,
        policy_kwargs=options,
        **extra,
    )
    model.learn(300)
    set_up = time.perf_counter() - began
    # SBX compiles one program for a number of updates; twenty at a time is kind to both.
    per_call = 20

    def update() -> None:
        model.train(gradient_steps=per_call, batch_size=batch_size)

    update()
    return Rate(
        f"{name}, batch {batch_size}", per_call * _per_second(update, _nothing, seconds), set_up
    )


def cpu_table(threads: int, with_sbx: bool) -> str:
    """Return a Markdown table of updates per second on the CPU, one member."""
    torch.set_num_threads(threads)
    lines = [
        f"| batch | updates/s, {threads} thread{'s' * (threads > 1)} | Stable-Baselines3 | SBX | "
        "ours, MLP actor | ours, ICCT-2-feature | ours, MLP, bfloat16 critics | "
        "ours / SB3 | bfloat16 / SB3 | ours / SBX | bfloat16 / SBX |",
        "|---" * 11 + "|",
    ]
    for batch_size in (256, 1024):
        sizes = {"batch_size": batch_size, "buffer_size": 20_000}
        kinds = (("mlp-max", "float32"), ("icct-2-feature", "float32"), ("mlp-max", "bfloat16"))
        ours, tree, quick = (
            update_rate(make_config("lunar-lander", m, critic_precision=p, **sizes)).per_s
            for m, p in kinds
        )
        peer = stable_baselines3_rate(batch_size).per_s
        jax = sbx_rate(batch_size).per_s if with_sbx else None
        cells = [f"{peer:.0f}", "not run" if jax is None else f"{jax:.0f}"]
        cells += [f"{rate:.0f}" for rate in (ours, tree, quick)]
        cells += [f"{rate / peer:.2f}" for rate in (ours, quick)]
        cells += ["" if jax is None else f"{rate / jax:.2f}" for rate in (ours, quick)]
        lines.append(f"| {batch_size} | | {' | '.join(cells)} |")
    return "\n".join(lines)


def gpu_table(workers: int) -> str:
    """Return a Markdown table of member-steps per second on the GPU, LunarLander."""
    lines = ["| members | method | member-steps/s | compile and capture |", "|---|---|---|---|"]
    for members in (20, 72):
        config = make_config(
            "lunar-lander",
            "icct-2-feature",
            seeds=tuple(range(members)),
            batch_size=256,
            learning_starts=1000,
            steps=100_000,
        )
        rate = whole_rate(config, "cuda", workers, compile_update=True)
        lines.append(f"| {members} | {config.method} | {rate.per_s:,.0f} | {rate.set_up_s:.0f} s |")
    return "\n".join(lines)


def _per_second(call: Callable[[], None], wait: Callable[[], None], seconds: float) -> float:
    call()
    wait()
    rates = []
    for _ in range(ROUNDS):
        began, count = time.perf_counter(), 0
        while time.perf_counter() - began < seconds / ROUNDS:
            call()
            count += 1
        wait()
        rates.append(count / (time.perf_counter() - began))
    return median(rates)


def _wait(group: Group) -> None:
    if group.stream is not None:
        group.stream.synchronize()


def _nothing() -> None:
    return


def _named(config: TrainConfig) -> str:
    return f"{config.members} x {config.method}, batch {config.batch_size}"
