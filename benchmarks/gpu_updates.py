"""Milliseconds of one captured update on a GPU, by members, batch, method and precision.

python benchmarks/gpu_updates.py
"""

import torch

from icct.bench.speed import update_rate
from icct.learn.config import make_config

if __name__ == "__main__":
    print("| precision | compiled | members | batch | method | ms/update | set-up s |", flush=True)
    for precision in ("highest", "high"):
        torch.set_float32_matmul_precision(precision)
        for compiled in (False, True):
            for members, batch in ((20, 256), (72, 256), (15, 1024)):
                for method in ("icct-2-feature", "mlp-max"):
                    if compiled and precision == "highest" and method == "mlp-max":
                        continue
                    config = make_config(
                        "lunar-lander",
                        method,
                        seeds=tuple(range(members)),
                        batch_size=batch,
                        buffer_size=100_000,
                    )
                    rate = update_rate(config, "cuda", compiled, seconds=1.0)
                    print(
                        f"| {precision} | {compiled} | {members} | {batch} | {method} | "
                        f"{1000 / rate.per_s:.3f} | {rate.set_up_s:.1f} |",
                        flush=True,
                    )
