"""Exported code run for real: compiled by the machine's compilers, loaded, called row by row."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from icct.export import CFiles, export_c
from icct.policy import Policy

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
# Calls the exported function on every row, so that 10^5 observations take one call from Python.
ROWS = """
#include "{name}.h"
void rows(const {real} *observations, {real} *actions, int *leaves, long n);
void rows(const {real} *observations, {real} *actions, int *leaves, long n) {{
    long i;
    for (i = 0; i < n; ++i) {{
        leaves[i] = {name}_act(observations + i * {features}, actions + i * {actions});
    }}
}}
"""


def needs(tool: str) -> str:
    """Return the path of a program, or skip the test."""
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    return found


def write_c(files: CFiles, folder: Path) -> None:
    for suffix, text in ((".h", files.header), (".c", files.source), ("_main.c", files.main)):
        (folder / f"{files.name}{suffix}").write_text(text, encoding="ascii")


def run_c(
    policy: Policy,
    observations: np.ndarray,
    folder: Path,
    compiler: str = "gcc",
    precision: str = "double",
    flags: tuple[str, ...] = ("-O2",),
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leaves and actions of the compiled export."""
    files = export_c(policy, "exported", precision)
    write_c(files, folder)
    real = "double" if precision == "double" else "float"
    rows = ROWS.format(
        name=files.name, real=real, features=len(policy.features), actions=len(policy.actions)
    )
    (folder / "rows.c").write_text(rows)
    library = folder / f"{compiler}-{precision}-{abs(hash((policy.name, flags)))}.so"
    command = [needs(compiler), *STRICT, *flags, "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*command, "exported.c", "rows.c"], cwd=folder, check=True)
    kind = np.float64 if precision == "double" else np.float32
    table = np.ascontiguousarray(observations, dtype=kind)
    actions = np.full((len(table), len(policy.actions)), np.nan, dtype=kind)
    leaves = np.empty(len(table), dtype=np.intc)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (table, actions, leaves)]
    ctypes.CDLL(str(library)).rows(*pointers, ctypes.c_long(len(table)))
    return leaves, actions


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two tables of doubles are equal to the last bit; 0 and -0 are not."""
    return np.array_equal(one.view(np.int64), other.view(np.int64))


def run_python(text: str, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the leaves and actions of the exported Python file."""
    module: dict = {}
    exec(compile(text, "exported.py", "exec"), module)
    pairs = [module["leaf_and_action"](row) for row in observations.tolist()]
    return np.array([leaf for leaf, _ in pairs]), np.array([action for _, action in pairs])


def run_onnx(model: bytes, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the leaves and actions of the ONNX model in onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    action, leaf = runtime.InferenceSession(model).run(
        ["action", "leaf"], {"observation": observations}
    )
    return leaf[:, 0], action


def ulps_apart(policy: Policy, found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference in units in the last place.

    With tanh an action is centre + half_range * tanh(...); where the two cancel, the unit is that
    of the larger, since no rounding of tanh could do better.
    """
    scale = np.abs(expected)
    if policy.squash == "tanh":
        centre = np.array([action.centre for action in policy.actions])
        scale = np.maximum(scale, np.maximum(np.abs(centre), np.abs(expected - centre)))
    return float(np.max(np.abs(found - expected) / np.spacing(scale), initial=0.0))
