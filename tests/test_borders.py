"""Tasks are values that are passed along: names are looked up at the border and nowhere else."""

import ast
from pathlib import Path

ICCT = Path(__file__).parents[1] / "icct"
LOOKUPS = {"find_task", "task_of", "task_of_run", "TASKS"}
# The command line, and the public functions that take a name for a task.
BORDER = {
    "envs/find.py": "the lookup itself",
    "envs/catalog.py": "the built-in tasks",
    "envs/__init__.py": "make, make_worker, register",
    "evaluate.py": "evaluate, film",
    "audit.py": "audit",
    "distill/rounds.py": "distill",
    "polish/polish.py": "polish",
    "polish/extend.py": "extend",
    "polish/prune.py": "prune",
    "recipe/config.py": "make_recipe, and reading a run's file",
    "recipe/run.py": "go_on",
    "learn/config.py": "make_config, and reading a run's file",
    "learn/train.py": "resume",
}


def test_the_task_registry_is_called_at_the_border_only():
    callers = {}
    for path in sorted(ICCT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & LOOKUPS
        if used:
            callers[path.relative_to(ICCT).as_posix()] = used
    inside = {name for name in callers if not name.startswith("cli/")}
    assert inside == set(BORDER)


def test_every_lookup_of_a_public_function_is_its_own():
    """Each function that takes a name calls `find_task` once; nothing looks it up again."""
    counts = {}
    for name in ("evaluate.py", "audit.py", "distill/rounds.py", "polish/polish.py"):
        tree = ast.parse((ICCT / name).read_text(encoding="utf-8"))
        calls = [
            function.name
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "find_task"
        ]
        counts[name] = sorted(calls)
    assert counts == {
        "evaluate.py": ["evaluate", "film"],
        "audit.py": ["audit"],
        "distill/rounds.py": ["distill"],
        "polish/polish.py": ["polish"],
    }
