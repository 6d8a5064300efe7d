"""How fast training is, beside named peers in the same run.

Updates per second of one member against Stable-Baselines3's SAC and SBX's with the same critics
(and, for `mlp-max`, the same actor), in rounds that take turns; on a GPU member-steps per second of
whole populations with their environments.
"""

import importlib
import multiprocessing
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from statistics import median

import torch

from icct.learn.config import TrainConfig, make_config
from icct.learn.device import choose_device
from icct.learn.group import Group

ROUNDS = 5  # a rate is the median of so many
OURS = [  # (method, precision of the critics, compiled) on the CPU
    (method, precision, compiled)
    for method in ("mlp-max", "icct-2-feature")
    for precision, compiled in (("float32", False), ("float32", True), ("bfloat16", True))
]


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


Update = Callable[[], None]


def our_updates(config: TrainConfig, compile_update: bool) -> tuple[Update, int]:
    """Return one update of a population on the CPU, without environments, and 1."""
    group = Group(config, choose_device("cpu"), compile_update)
    group.replay.rows.normal_()
    group.replay.rows[..., -1] = 0
    group.replay.stored += group.replay.rows.shape[1]
    step = 0

    def update() -> None:
        nonlocal step
        step += 1
        group.step += 1
        group.learn(step)

    return update, 1


def peer_updates(library: str, batch_size: int) -> tuple[Update, int]:
    """Return several updates of `stable_baselines3` or `sbx` on the CPU, and how many."""
    from icct.envs import make

    algorithm = importlib.import_module(library).SAC
    model = algorithm(
        "MlpPolicy",
        make("lunar-lander"),
        batch_size=batch_size,
        learning_starts=100,
        buffer_size=20_000,
        policy_kwargs={"net_arch": [256, 256]},
        **({"device": "cpu"} if library == "stable_baselines3" else {}),
    )
    model.learn(300)
    # SBX compiles one program for a number of updates; twenty at a time is kind to both.
    return lambda: model.train(gradient_steps=20, batch_size=batch_size), 20


def side_by_side(
    contenders: dict[str, Callable[[], tuple[Update, int]]], threads: int, seconds: float = 5.0
) -> list[Rate]:
    """Return the updates per second of each contender, in rounds that take turns.

    Each has a process of its own, set up as its users have it; one works at a time.
    """
    context = multiprocessing.get_context("spawn")
    began, ours = {}, {}
    try:
        for name, make_updates in contenders.items():
            pipe, theirs = context.Pipe()
            arguments = (theirs, make_updates, threads)
            process = context.Process(target=_contend, args=arguments, daemon=True)
            process.start()
            theirs.close()
            ours[name] = process, pipe
            began[name] = pipe.recv()  # before the next one starts
        rates: dict[str, list[float]] = {name: [] for name in ours}
        for _ in range(ROUNDS):
            for name, (_, pipe) in ours.items():
                pipe.send(seconds / ROUNDS)
                rates[name].append(pipe.recv())
    finally:
        for process, pipe in ours.values():
            pipe.close()  # by which it ends
            process.join()
    return [Rate(name, median(rates[name]), began[name]) for name in ours]


def _contend(
    pipe: Connection, make_updates: Callable[[], tuple[Update, int]], threads: int
) -> None:
    """Set up, say how long it took, then answer each number of seconds with a rate."""
    torch.set_num_threads(threads)
    began = time.perf_counter()
    update, per_call = make_updates()
    update()
    pipe.send(time.perf_counter() - began)
    with suppress(EOFError):
        while True:
            seconds = pipe.recv()
            update()  # what others left in the caches is not counted
            pipe.send(per_call * _once(update, _nothing, seconds))


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
        if step > config.learning.learning_starts:
            group.learn(step)

    try:
        while step <= config.learning.learning_starts + 10:
            advance()
        group.programs.synchronize()
        set_up = time.perf_counter() - began
        rate = _per_second(advance, group.programs.synchronize, seconds)
    finally:
        group.stop()
    return Rate(_named(config), rate * config.members, set_up)


def cpu_table(threads: int, with_sbx: bool) -> str:
    """Return a Markdown table of updates per second on the CPU, one member."""
    lines = [
        f"| batch | critics | updates/s, {threads} thread{'s' * (threads > 1)} | per s | "
        "of Stable-Baselines3 | of SBX | set-up |",
        "|---" * 7 + "|",
    ]
    for batch_size in (256, 1024):
        contenders: dict[str, Callable[[], tuple[Update, int]]] = {
            "float32 | Stable-Baselines3": partial(peer_updates, "stable_baselines3", batch_size)
        }
        if with_sbx:
            contenders["float32 | SBX"] = partial(peer_updates, "sbx", batch_size)
        for method, precision, compiled in OURS:
            config = make_config(
                "lunar-lander",
                method,
                critic_precision=precision,
                batch_size=batch_size,
                buffer_size=20_000,
            )
            name = f"{precision} | ours, {method}{', compiled' * compiled}"
            contenders[name] = partial(our_updates, config, compiled)
        rates = side_by_side(contenders, threads)
        per_s = {rate.what: rate.per_s for rate in rates}
        for rate in rates:
            ratios = [
                f"{rate.per_s / per_s[peer]:.2f}" if peer in per_s else "not run"
                for peer in ("float32 | Stable-Baselines3", "float32 | SBX")
            ]
            cells = [rate.what, f"{rate.per_s:.0f}", *ratios, f"{rate.set_up_s:.0f} s"]
            lines.append(f"| {batch_size} | {' | '.join(cells)} |")
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
    return median(_once(call, wait, seconds / ROUNDS) for _ in range(ROUNDS))


def _once(call: Callable[[], None], wait: Callable[[], None], seconds: float) -> float:
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        call()
        count += 1
    wait()
    return count / (time.perf_counter() - began)


def _nothing() -> None:
    return


def _named(config: TrainConfig) -> str:
    return f"{config.members} x {config.method}, batch {config.learning.batch_size}"
