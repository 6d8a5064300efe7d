"""How long one action takes: the C export beside act, onnxruntime, scikit-learn and a perceptron.

    python benchmarks/export_speed.py

A tree of 16 leaves with 2 features per rule, over 8 features and 2 actions, as for the lunar
lander; a regression tree of 16 leaves; a perceptron of 2 x 256. Every peer has one thread. Rounds
alternate between the peers; the table gives medians. The C code is called once for each of 10^5
different observations from a loop in C, so branches are not learnt by heart.
"""

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.tree import DecisionTreeRegressor

from icct import Action, Controller, Feature, Leaf, Policy, Split
from icct.export import export_c, export_onnx, export_python

FEATURES, ACTIONS, DEPTH, HIDDEN = 8, 2, 4, 256
ROWS, SINGLE = 100_000, 2_000
LOOP = """
#include "tree.h"
long rows(const {real} *observations, {real} *actions, long n);
long rows(const {real} *observations, {real} *actions, long n) {{
    long i, sum = 0;
    for (i = 0; i < n; ++i) {{
        sum += tree_act(observations + i * {features}, actions + i * {actions});
    }}
    return sum;
}}
"""
Peer = tuple[str, int, Callable[[], Any]]  # name, actions in one call, the call


def random_tree(seed: int = 0) -> Policy:
    """Return a complete tree of 16 leaves with rules over two features."""
    rng = np.random.default_rng(seed)
    nodes: list[Split | Leaf] = []

    def rule() -> Controller:
        used = rng.choice(FEATURES, 2, replace=False)
        return Controller(tuple((int(f), float(rng.normal())) for f in used), 0.1)

    def build(depth: int) -> int:
        index = len(nodes)
        nodes.append(Leaf(tuple(rule() for _ in range(ACTIONS))))
        if depth:
            below, above = build(depth - 1), build(depth - 1)
            threshold = 0.5 * float(rng.normal())
            nodes[index] = Split(int(rng.integers(FEATURES)), threshold, below, above)
        return index

    build(DEPTH)
    features = tuple(Feature(f"x{i}") for i in range(FEATURES))
    return Policy("random", features, tuple(Action(f"a{i}") for i in range(ACTIONS)), tuple(nodes))


def compiled(policy: Policy, precision: str, table: np.ndarray, folder: Path) -> Callable[[], Any]:
    """Return a call that acts on every row of the table in compiled C."""
    files = export_c(policy, "tree", precision)  # type: ignore[arg-type]
    place = folder / precision
    place.mkdir()
    (place / "tree.h").write_text(files.header)
    (place / "tree.c").write_text(files.source)
    loop = LOOP.format(real=precision, features=FEATURES, actions=ACTIONS)
    (place / "loop.c").write_text(loop)
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", "tree.c", "loop.c", "-o", "tree.so"]
    subprocess.run(command, cwd=place, check=True)
    call = ctypes.CDLL(str(place / "tree.so")).rows
    kind = np.float64 if precision == "double" else np.float32
    observations = np.ascontiguousarray(table, dtype=kind)
    actions = np.empty((len(table), ACTIONS), dtype=kind)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (observations, actions)]
    return lambda: (call(*pointers, ctypes.c_long(len(table))), observations, actions)


def session(model: bytes) -> onnxruntime.InferenceSession:
    """Return an onnxruntime session with one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options)


def perceptron() -> torch.nn.Sequential:
    """Return a perceptron of 2 x 256 with tanh at its end."""
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, ACTIONS),
        torch.nn.Tanh(),
    )


def perceptron_onnx(network: torch.nn.Sequential) -> bytes:
    """Return the perceptron as an ONNX model, written by hand: three Gemm nodes."""
    nodes, constants, name = [], [], "observation"
    for position, layer in enumerate(network):
        out = "action" if position == len(network) - 1 else f"h{position}"
        if isinstance(layer, torch.nn.Linear):
            for part, value in (("w", layer.weight), ("b", layer.bias)):
                constants.append(
                    numpy_helper.from_array(value.detach().numpy(), f"{part}{position}")
                )
            given = [name, f"w{position}", f"b{position}"]
            nodes.append(helper.make_node("Gemm", given, [out], transB=1))
        else:
            kind = "Relu" if isinstance(layer, torch.nn.ReLU) else "Tanh"
            nodes.append(helper.make_node(kind, [name], [out]))
        name = out
    shapes = [
        helper.make_tensor_value_info(label, TensorProto.FLOAT, ["n", size])
        for label, size in (("observation", FEATURES), ("action", ACTIONS))
    ]
    graph = helper.make_graph(nodes, "perceptron", [shapes[0]], [shapes[1]], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def looped(call: Callable[[Any], Any], rows: Any) -> Callable[[], Any]:
    """Return a call that gives the rows to `call` one by one."""

    def run() -> None:
        for row in rows:
            call(row)

    return run


def peers(folder: Path) -> list[Peer]:
    """Return everything that is measured."""
    rng = np.random.default_rng(1)
    policy, table = random_tree(), rng.normal(size=(ROWS, FEATURES))
    single, small = table[:SINGLE], table.astype(np.float32)
    module: dict[str, Any] = {}
    exec(compile(export_python(policy), "tree.py", "exec"), module)
    tree = session(export_onnx(policy))
    cart = DecisionTreeRegressor(max_leaf_nodes=2**DEPTH).fit(table, policy.act_batch(table))
    network = perceptron()
    network_onnx = session(perceptron_onnx(network))
    tensor = torch.from_numpy(small)

    def in_torch(rows: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            return network(rows)

    def in_onnx(rows: np.ndarray) -> Any:
        return network_onnx.run(None, {"observation": rows})

    return [
        ("C export, double", ROWS, compiled(policy, "double", table, folder)),
        ("C export, float", ROWS, compiled(policy, "float", table, folder)),
        ("`Policy.act`", SINGLE, looped(policy.act, single)),
        ("`Policy.act_batch`, 10^5 rows", ROWS, lambda: policy.act_batch(table)),
        ("Python export", SINGLE, looped(module["act"], single.tolist())),
        (
            "ONNX export in onnxruntime",
            SINGLE,
            looped(lambda row: tree.run(None, {"observation": row}), single[:, None]),
        ),
        (
            "ONNX export in onnxruntime, 10^5 rows",
            ROWS,
            lambda: tree.run(None, {"observation": table}),
        ),
        (
            "scikit-learn DecisionTreeRegressor, 16 leaves",
            SINGLE,
            looped(cart.predict, single[:, None]),
        ),
        (
            "scikit-learn DecisionTreeRegressor, 10^5 rows",
            ROWS,
            lambda: cart.predict(table),
        ),
        ("perceptron 2 x 256 in onnxruntime", SINGLE, looped(in_onnx, small[:SINGLE, None])),
        ("perceptron 2 x 256 in onnxruntime, 10^5 rows", ROWS, lambda: in_onnx(small)),
        ("perceptron 2 x 256 in torch", SINGLE, looped(in_torch, tensor[:SINGLE, None])),
        ("perceptron 2 x 256 in torch, 10^5 rows", ROWS, lambda: in_torch(tensor)),
    ]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        measured = peers(Path(folder))
        times: dict[str, list[float]] = {name: [] for name, _, _ in measured}
        for _, _, call in measured:
            call()  # warm
        for _ in range(rounds):
            for name, count, call in measured:
                began = time.perf_counter()
                call()
                times[name].append((time.perf_counter() - began) / count * 1e9)
    base = median(times["C export, double"])
    print("| | ns per action | times the C export |")
    print("|---|---|---|")
    for name, found in times.items():
        middle = median(found)
        print(f"| {name} | {middle:,.0f} | {middle / base:,.1f} |")


if __name__ == "__main__":
    main()
