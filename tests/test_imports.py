"""What loads what: the light parts must stay light."""

import json
import subprocess
import sys
from collections.abc import Sequence

HEAVY = (
    "torch",
    "gymnasium",
    "matplotlib",
    "libsumo",
    "mujoco",
    "scipy",
    "rich",
    "onnx",
    "sklearn",
    "ray",
    "optuna",
)


LIGHT = (
    "import icct",
    "import icct.policy.file, icct.policy.simplify, icct.policy.text, icct.zoo",
    "import icct.verify",
    "import icct.plant.falsify; icct.plant.read_plant('plant:acc')",
    "from icct.cli.main import main; main(['verify', 'zoo:ring-cruiser', 'acceleration <= 1'])",
    "from icct.cli.main import main; main(['edit', '--help'])",
    "from icct.cli.main import main; main(['guarantee', '--help'])",
    "from icct.cli.main import main; main(['--help'])",
    "from icct.cli.main import main; main(['show', 'zoo:ring-cruiser'])",
    "import icct.export, icct.policy.layout, icct.policy.sklearn, icct.draw, icct.view",
    "from icct.cli.main import main; main(['simplify', '--help'])",
    "from icct.cli.main import main; main(['export', '--help'])",
    "from icct.cli.main import main; main(['draw', '--help'])",
    "from icct.cli.main import main; main(['report', '--help'])",
    "from icct.cli.main import main; main(['view', '--help'])",
    "from icct.cli.main import main; main(['record', '--help'])",
    "from icct.cli.main import main; main(['polish', '--help'])",
    "from icct.cli.main import main; main(['distill', '--help'])",
    "from icct.cli.main import main; main(['adapt', '--help'])",
    "from icct.cli.main import main; main(['train', '--help'])",
    "from icct.cli.main import main; main(['tune', '--help'])",
    "from icct.cli.main import main; main(['bench', 'table1', '--help'])",
    "import icct.work.piece, icct.work.drive, icct.cluster.drive",
    "from icct.cli.main import main; main(['view', '--help'])",
    "from icct.cli.main import main; main(['record', '--help'])",
    "from icct.cli.main import main; main(['robot', '--help'])",
    "from icct.cli.main import main; main(['robot', '--script', '/dev/null/x'])",
)
IN_MANY_PROCESSES = (
    "import icct.evaluate, icct.scoring, icct.envs.crew, icct.envs.worker, icct.baselines",
    "import icct.polish, icct.polish.climb; icct.polish.climb.import_cma()",
    "import icct.distill",
    "from icct.cli.main import main; main(['tasks'])",
)


def first_to_load(modules: Sequence[str], codes: Sequence[str]) -> dict[str, str]:
    """Run lines of code in turn in a new process; return which was first to load a module."""
    script = f"""
import contextlib, io, sys
found = {{}}
for code in {codes!r}:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code)
    for module in {modules!r}:
        if module in sys.modules:
            found.setdefault(module, code)
import json
print(json.dumps(found))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_the_light_parts_load_nothing_heavy() -> None:
    assert first_to_load(HEAVY, LIGHT) == {}


def test_what_runs_in_many_processes_loads_no_torch() -> None:
    assert first_to_load(["torch"], IN_MANY_PROCESSES) == {}


def test_what_the_tests_above_look_for_can_be_found() -> None:
    codes = ["import icct", "import icct.learn.module", "import torch"]
    assert first_to_load(["torch", "onnx"], codes) == {"torch": codes[1]}
