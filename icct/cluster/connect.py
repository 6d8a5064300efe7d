"""Connect to a Ray cluster, or start one in processes of this machine."""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from icct.errors import ConfigError, MissingExtraError

LOCAL = "local"
TOKEN = Path(".ray/auth_token")  # in the home folder, where Ray keeps the secret of a cluster
OBJECT_STORE = 2**28  # bytes of a local cluster; what travels is small
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # as Ray will do by itself; else it warns
}


def import_ray() -> Any:
    """Return the module `ray`, or say what to install."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if (Path.home() / TOKEN).exists():  # then `ray start` asks for it, and a driver must offer it
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError(
            f'A cluster needs Ray ({error}). Install it with: pip install "icct[cluster]"'
        ) from error
    return ray


@contextmanager
def connected(address: str, cpus: int | None = None) -> Iterator[Any]:
    """Yield the module `ray`, connected until the context ends.

    Args:
        address: `HOST:PORT` of a head node, `auto` for the cluster that this machine belongs to,
            or `local` to start one here, which ends with the context.
        cpus: Of a local cluster; by default as many as this process may use.
    """
    ray = import_ray()
    handler = signal.getsignal(signal.SIGTERM)
    quiet = {"log_to_driver": False, "configure_logging": False, "logging_level": logging.ERROR}
    try:
        if address == LOCAL:
            ray.init(
                num_cpus=cpus or len(os.sched_getaffinity(0)),
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                **quiet,
            )
        else:
            ray.init(address=address, **quiet)
    except Exception as error:  # Ray has no class of its own for a node that did not start
        raise ConfigError(_refusal(address, error)) from None
    finally:
        _restore(handler)
    try:
        yield ray
    finally:
        ray.shutdown()


def _refusal(address: str, error: Exception) -> str:
    if address == LOCAL:
        return (
            f"--cluster {LOCAL}: Ray did not start here ({error}). A machine that is very busy is "
            "too slow for it; try again later, or leave --cluster out."
        )
    return (
        f"--cluster {address}: no Ray cluster answers there ({error}). Start one with `ray start "
        "--head` and name it HOST:PORT, or let --cluster local start one here. A cluster with a "
        "token needs RAY_AUTH_MODE=token, and the same token, on every machine."
    )


def _restore(handler: Any) -> None:
    """Let SIGTERM do what it did; Ray makes it end the program without a word."""
    with suppress(ValueError, TypeError):  # not the main thread, or not Python's
        signal.signal(signal.SIGTERM, handler)


def describe(ray: Any) -> str:
    """Return what the cluster has, in words."""
    nodes = sum(node["Alive"] for node in ray.nodes())
    has = ray.cluster_resources()
    machines = "1 node" if nodes == 1 else f"{nodes} nodes"
    return f"{machines}, {has.get('CPU', 0):g} CPUs, {has.get('GPU', 0):g} GPUs"


def room_for(ray: Any, cpus: float, gpus: float) -> int:
    """Return how many pieces of work with such needs the nodes have room for at a time."""
    room = 0
    for node in ray.nodes():
        has = node["Resources"] if node["Alive"] else {}
        fits = [int(has.get(kind, 0) / need + 1e-9) for kind, need in _needs(cpus, gpus) if need]
        room += min(fits, default=0)
    return room


def _needs(cpus: float, gpus: float) -> tuple[tuple[str, float], ...]:
    return ("CPU", cpus), ("GPU", gpus)
