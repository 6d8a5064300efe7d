"""The tutorials run: here cell by cell with small budgets, by a real kernel in `make notebooks`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
# What is put in place of a tutorial's budget, so that it takes seconds.
SMALL = {
    "your-environment": {
        "steps": 150, "learning_starts": 100, "batch_size": 16, "critic_hidden": (8,), "rounds": 0,
        "round_episodes": 1, "polish_episodes": 0, "validation_episodes": 2, "fresh_episodes": 2,
    },
    "distil-a-network": {"network_steps": 550, "episodes": 2, "search_minutes": 0.02},
}  # fmt: skip


def cells(tutorial: Path) -> list[str]:
    content = json.loads(tutorial.read_text())
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def smaller(source: str, name: str) -> str:
    """Return a cell that takes a moment."""
    if name in SMALL:
        source = re.sub(r"^budget = .*$", f"budget = {SMALL[name]}", source, flags=re.M)
    for many, few in (("dagger=4", "dagger=0"), ("episodes=10", "episodes=1")):
        source = source.replace(many, few)
    return source.replace("validation_episodes=20", "validation_episodes=10")


def run_cells(tutorial: Path, small: bool) -> None:
    """Run the cells of a tutorial in this process and folder, as a notebook would."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for source in cells(tutorial):
        if source.startswith("%%writefile "):
            name, _, text = source.removeprefix("%%writefile ").partition("\n")
            Path(name).write_text(text)
            continue
        code = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
        exec(compile(smaller(code, tutorial.stem) if small else code, tutorial.name, "exec"),
             namespace)  # fmt: skip


def test_there_are_tutorials_and_budgets_to_make_small() -> None:
    assert len(TUTORIALS) == 4
    for name in SMALL:
        text = "\n".join(cells(ROOT / f"docs/tutorials/{name}.ipynb"))
        assert text.count("\nbudget = ") + text.startswith("budget = ") == 1


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(tutorial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_cells(tutorial, small=True)


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_is_kept_with_its_output(tutorial: Path) -> None:
    content = json.loads(tutorial.read_text())
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code)
    assert any(cell["outputs"] for cell in code)
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert kinds <= {"stream", "execute_result", "display_data"}  # no errors
    assert not re.search(r"/(home|root|work|tmp)/", tutorial.read_text())  # of one machine


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_all_tutorials_run_in_a_kernel_in_time() -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    script = ROOT / "docs" / "site" / "notebooks.py"
    done = subprocess.run([sys.executable, script, "--dry-run"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
