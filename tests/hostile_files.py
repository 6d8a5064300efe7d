"""Thousands of damaged and hostile files, each read or refused: `python -m tests.hostile_files N`.

Prints one line of JSON: how many of each kind were read and refused, the most processor time and
the longest message of one file, the memory of all. Fails at the first exception that is not ours.
"""

import json
import random
import string
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from icct.baselines import PerceptronActor, read_actor, write_actor
from icct.cli.draw import usage_from
from icct.errors import IcctError
from icct.files import read_toml
from icct.policy import Action, Feature
from icct.policy.file import policy_to_json, read_policy
from icct.verify import read_properties
from icct.view.curve import training_curves
from icct.zoo import zoo_policy
from tests.random_policies import random_policy

POLICY = zoo_policy("ring-cruiser")
TOML = """
[calm]
property = "when speed_ego > 0.4 and not abs(acceleration) < 1 then acceleration <= 0 or a = 3"
why = "It tips."
[numbers]
steps = 1_000
seeds = [0, 1, 0x1f]
rate = 3e-4
when = 1979-05-27T07:32:00Z
nested = {a = {b = [1, [2.5, "x"]]}}
"""
BLOCKS: tuple[bytes, ...] = (
    b"[", b"{", b'{"a":', b"[{", b"a.", b'"', b"'", b'"""', b"\\", b"\\u001b", b"\x1b[2J", b"\0",
    b"\xff", b"9", b"0x", b"1e", b"-", b"_", b".", b",", b"=", b"#", b"\n", b"\r", b" ", b"abs(",
    b"not ", b" and ", b"a<1 or ", b"1e308*", b"/3e-300", "\u202e\U000e0001".encode(), b"[[a]]\n",
    b"[a]\n", b'"k":1,', b"{},", b"[],", b"NaN,", b'"\\ud800",', b"<=", b"a=1\n",
)  # fmt: skip


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return the content with a few of its places cut, changed, doubled or flooded."""
    for _ in range(rng.randrange(1, 4)):
        start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        kind = rng.randrange(7)
        if kind == 0:
            content = content[:start]
        elif kind == 1:
            content = content[:start] + content[end:]
        elif kind == 2:
            content = content[:start] + rng.randbytes(rng.randrange(9)) + content[start:]
        elif kind == 3:
            letter = rng.choice(string.printable).encode()
            content = content[:start] + letter + content[start + 1 :]
        elif kind == 4:
            content = content[:end] + content[start:end] * rng.randrange(1, 20) + content[end:]
        else:
            size = 10 ** rng.randrange(1, 7)
            flood = rng.choice(BLOCKS)
            flood *= max(1, rng.randrange(size) // len(flood))
            content = content[:start] + flood + content[end if kind == 6 else start :]
    return content


def damaged_header(content: bytes, rng: random.Random) -> bytes:
    """Return an actor file with a damaged description of the right length, and sound numbers."""
    end = 8 + int.from_bytes(content[:8], "little")
    about = json.loads(content[8:end])
    key = rng.choice(list(about["__metadata__"]))
    text = damaged(about["__metadata__"][key].encode(), rng).decode("utf-8", "replace")
    if rng.random() < 0.5:
        about["__metadata__"][key] = text
    else:
        about[rng.choice([*about, "more"])] = rng.choice([{}, [], text, 3, {"dtype": "F64"}])
    header = json.dumps(about).encode()
    return len(header).to_bytes(8, "little") + header + content[end:]


def sources(folder: Path) -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    """Return for each kind of file a sound one, and how it is read."""
    rng = np.random.default_rng(0)
    layers = {
        "weight_0": rng.normal(size=(3, 4)).astype(np.float32),
        "bias_0": np.zeros(4, np.float32),
        "weight_1": rng.normal(size=(4, 1)).astype(np.float32),
        "bias_1": np.zeros(1, np.float32),
    }
    names = [Feature(name) for name in "xyz"]
    write_actor(PerceptronActor("teacher", names, [Action("u")], layers), folder / "actor")
    visits = json.dumps({"leaf_visits": {str(leaf): 5 for leaf in POLICY.leaves}})
    rows = "".join(f"{i},single-lane-ring/icct,0,score,{i / 7}\n" for i in range(50))
    (folder / "policies").mkdir()
    return {
        "policy": (policy_to_json(random_policy(3)).encode(), read_policy),
        "properties": (TOML.split("[numbers]")[0].encode(), read_properties),
        "toml": (TOML.encode(), lambda path: read_toml(path, "a configuration")),
        "actor": ((folder / "actor").read_bytes(), read_actor),
        "actor header": ((folder / "actor").read_bytes(), read_actor),
        "usage": (visits.encode(), lambda path: usage_from(POLICY, str(path))),
        "metrics.csv": (
            f"step,group,seed,metric,value\n{rows}".encode(),
            lambda path: training_curves(POLICY, path.parent / "policies" / "seed-0.json"),
        ),
    }


def main(count: int) -> None:
    """Try so many files of all kinds together, and print what came of it."""
    outcomes: Counter[str] = Counter()
    slowest, longest = (0.0, ""), 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        kinds = sources(folder)
        for trial in range(count):
            kind, (sound, read) = list(kinds.items())[trial % len(kinds)]
            path = folder / kind
            damage = damaged_header if kind == "actor header" else damaged
            path.write_bytes(damage(sound, random.Random(trial)))
            start = time.process_time()
            try:
                read(path)
                outcomes[f"{kind} read"] += 1
            except IcctError as error:
                text = str(error)
                assert text.replace("\n", " ").isprintable(), (trial, text)
                longest = max(longest, len(text))
                outcomes[f"{kind} refused"] += 1
            slowest = max(slowest, (time.process_time() - start, f"{kind}, file {trial}"))
    found = {"outcomes": dict(sorted(outcomes.items())), "slowest": slowest, "longest": longest}
    print(json.dumps({**found, "memory_mb": most_memory_mb()}))


def most_memory_mb() -> float:
    """Return the most memory this program has taken; getrusage counts its parent's as well."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(int(sys.argv[1]))
