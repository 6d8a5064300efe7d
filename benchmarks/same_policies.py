"""Do short CPU runs of two versions of icct end with the same policies, bit for bit?

Every method, SAC and TD3, growth, policies to start from, normalised observations, options that
differ between members, falling learning rates, compiled updates. Only the command line is used,
so that any version can be asked:

PYTHONPATH=OLD python benchmarks/same_policies.py before.json
PYTHONPATH=NEW python benchmarks/same_policies.py after.json --compare before.json
"""

import argparse
import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path

from safetensors.numpy import load

from icct.cli.main import main as icct

TREES = (
    "icct-static",
    "icct-1-feature",
    "icct-2-feature",
    "icct-3-feature",
    "icct-l1-sparse",
    "icct-complete",
    "cddt",
    "cddt-controllers",
    "icct-1-feature-gumbel",
    "icct-2-feature-gumbel",
    "icct-complete-gumbel",
)
NETWORKS = ("mlp-max", "mlp-upper", "mlp-lower")
SMALL = {
    "recipe": "paper",
    "steps": "300",
    "learning-starts": "120",
    "batch-size": "32",
    "critic-hidden": "32,32",
    "buffer-size": "1000",
    "evaluate-every": "100",
    "evaluate-episodes": "1",
    "device": "cpu",
    "workers": "1",
    "scoring-workers": "1",
}
GROWING = "--grow --leaves 2 --max-leaves 8 --grow-every 50 --grow-epsilon 0.01 --steps 600"


def cases(compiled: bool) -> dict[str, list[str]]:
    """Return the words after `icct train` by a name for each case."""
    found = {f"sac {m}": f"inverted-pendulum --method {m}" for m in (*TREES, *NETWORKS)}
    for method in ("icct-static", "icct-2-feature", "icct-l1-sparse", "cddt", "mlp-lower"):
        found[f"td3 {method}"] = f"inverted-pendulum --method {method} --algorithm td3"
    lander = "lunar-lander --method icct-2-feature"
    found |= {
        "lander": f"{lander} --seeds 2",
        "lander td3": f"{lander} --algorithm td3 --policy-delay 3",
        "member rates": f"{lander} --seeds 2 --actor-lr 1e-3,3e-4 --gamma 0.9,0.99 --tau 0.1,0.01",
        "falling": f"{lander} --seeds 2 --final-lr 0.1 --actor-lr 1e-3,3e-4",
        "bfloat16": f"{lander} --critic-precision bfloat16",
        "fixed entropy": f"{lander} --entropy 0.1 --random-hold 4 --time-limit terminal",
        "normalised": f"{lander} --normalise",
        "normalised mlp": "lunar-lander --method mlp-lower --normalise",
        "normalised cddt": "lunar-lander --method cddt-controllers --normalise",
        "two methods": "lunar-lander --method icct-complete mlp-lower --seeds 2",
        "grow": f"inverted-pendulum --method icct-static {GROWING} --seeds 2",
        "grow sparse": f"inverted-pendulum --method icct-1-feature {GROWING}",
        "grow normalised": f"inverted-pendulum --method icct-complete --normalise {GROWING}",
        "init": "inverted-pendulum --init zoo:pole-balancer --method icct-2-feature "
        "--critic-first 60",
        "init grow": "inverted-pendulum --init zoo:pole-balancer --method icct-2-feature "
        "--critic-first 60 --grow --max-leaves 8 --grow-every 50 --grow-epsilon 0.01 --steps 600",
    }
    if compiled:
        found["compiled"] = f"{lander} --compile"
        found["compiled td3"] = f"{lander} --compile --algorithm td3"
    return {name: words.split() for name, words in found.items()}


def digest(file: Path) -> str:
    """Return a hash of the numbers by which an actor acts; provenance does not count."""
    content = file.read_bytes()
    if file.suffix == ".json":
        policy = json.loads(content)
        policy.pop("provenance", None)
        content = json.dumps(policy, sort_keys=True).encode()
    else:  # the order of the description differs from write to write
        tensors = sorted(load(content).items())
        content = b"".join(name.encode() + tensor.tobytes() for name, tensor in tensors)
    return hashlib.sha256(content).hexdigest()[:16]


def scores(folder: Path) -> str:
    """Return a hash of what the run measured: returns, losses, evaluations."""
    lines = sorted((folder / "metrics.csv").read_text().splitlines())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def run(words: list[str], folder: Path) -> dict[str, str]:
    """Train, and return a hash for each file that matters."""
    small = {key: value for key, value in SMALL.items() if f"--{key}" not in words}
    options = [part for key, value in small.items() for part in (f"--{key}", value)]
    if "--compile" not in words:
        options.append("--no-compile")
    status = icct(["train", *words, *options, "--out", str(folder)])
    if status != 0:
        raise SystemExit(f"{' '.join(words)}: status {status}")
    found = {
        str(file.relative_to(folder)): digest(file)
        for file in sorted((folder / "policies").rglob("*.*"))
    }
    return found | {"metrics.csv": scores(folder)}


def main() -> int:
    """Run the cases; with --compare, return 1 where something differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--only", nargs="*", help="cases whose names contain one of these")
    parser.add_argument("--compiled", action="store_true", help="torch.compile too: a minute each")
    options = parser.parse_args()
    before = {} if options.compare is None else json.loads(options.compare.read_text())
    found, began, differ = {}, time.monotonic(), []
    for name, words in cases(options.compiled).items():
        if options.only and not any(part in name for part in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found[name] = run(words, Path(folder) / "run")
        options.out.write_text(json.dumps(found, indent=1))
        if before and found[name] != before.get(name):
            differ.append(name)
            files = [k for k, v in found[name].items() if before.get(name, {}).get(k) != v]
            print(f"differs: {name}: {', '.join(files)}", flush=True)
        elif before:
            print(f"the same: {name}", flush=True)
    print(f"{len(found)} cases in {time.monotonic() - began:.0f} s", file=sys.stderr)
    if options.compare is None:
        return 0
    print(f"{len(found) - len(differ)} of {len(found)} cases are the same to the bit")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
