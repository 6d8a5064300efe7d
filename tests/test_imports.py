"""What loads what: the light parts must stay light."""

import subprocess
import sys

import pytest

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
)


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('|' + ' '.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(result.stdout.rpartition("|")[2].split())


@pytest.mark.parametrize(
    "code",
    [
        "import icct",
        "import icct.policy.file, icct.policy.simplify, icct.policy.text, icct.zoo",
        "import icct.verify",
        "from icct.cli.main import main; main(['verify', 'zoo:ring-cruiser', 'acceleration <= 1'])",
        "from icct.cli.main import main; main(['edit', '--help'])",
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
        "from icct.cli.main import main; main(['robot', '--help'])",
        "from icct.cli.main import main; main(['robot', '--script', '/dev/null/x'])",
    ],
)
def test_the_light_parts_load_nothing_heavy(code: str) -> None:
    assert loaded_after(code).isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "code",
    [
        "import icct.evaluate, icct.scoring, icct.envs.crew, icct.envs.worker, icct.baselines",
        "import icct.polish, icct.polish.climb; icct.polish.climb.import_cma()",
        "import icct.distill",
        "from icct.cli.main import main; main(['tasks'])",
    ],
)
def test_what_runs_in_many_processes_loads_no_torch(code: str) -> None:
    assert "torch" not in loaded_after(code)


def test_what_the_test_above_looks_for_can_be_found() -> None:
    assert "torch" in loaded_after("import icct.learn.module")
