"""Where a run computes: the CPU or a GPU, set up for it, and whether its update is compiled."""

import shutil

import torch

from icct.errors import ConfigError
from icct.learn.config import TrainConfig

# Updates from which compiling pays on a CPU: it takes half a minute, less the second time, and
# saves one to three milliseconds of an update.
COMPILE_FROM = 100_000


def choose_device(name: str) -> torch.device:
    """Return the device of a name, or refuse one that is not there."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise ConfigError(f"device is {name!r}, expected auto, cpu or cuda.")
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "device is 'cuda', but torch finds no CUDA GPU here. Use --device cpu, or install a "
            "torch built for CUDA on a machine with a GPU."
        )
    if name == "cpu":
        # Freeing a large block lets the allocator of Linux keep such memory from now on. Else
        # every update gets fresh pages from the system, which took a third of its time.
        torch.empty(31 << 20, dtype=torch.uint8)
    if name == "cuda":
        # TF32 products: several times faster, with 10 bits of mantissa. The tree that trains is
        # then a slightly rounded one; what is evaluated and written is frozen from the exact
        # numbers on the CPU.
        torch.set_float32_matmul_precision("high")
    return torch.device(name)


def pays_to_compile(config: TrainConfig, device: torch.device) -> bool:
    """Return whether a compiled update saves more time than compiling takes."""
    if device.type == "cuda":
        return True
    updates = config.steps - config.learning.learning_starts
    return updates >= COMPILE_FROM and shutil.which("g++") is not None
