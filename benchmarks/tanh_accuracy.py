"""How exact tanh is, in units in the last place: the exported one, numpy's, libm's, onnxruntime's.

    python benchmarks/tanh_accuracy.py

Against the exact value on 10^5 numbers (with mpmath), against numpy, which `Policy.act` uses, on
4 million. Why exported code brings its own tanh.
"""

import math
from typing import Any

import mpmath
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from icct import Action, Controller, Feature, Leaf, Policy
from icct.export import export_onnx, export_python

EXACT, MANY = 100_000, 4_000_000
PLAIN = Policy("tanh", (Feature("x"),), (Action("u"),), (Leaf((Controller(((0, 1.0),)),)),))


def onnx_tanh() -> bytes:
    """Return a model of one Tanh node in double precision."""
    ends = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n", 1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"])], "t", [ends[0]], [ends[1]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def numbers(count: int) -> np.ndarray:
    """Return numbers of all sizes, most of them where tanh bends."""
    rng = np.random.default_rng(0)
    return rng.normal(size=count) * 10.0 ** rng.uniform(-2, 1, size=count)


def main() -> None:
    """Print a table."""
    mpmath.mp.prec = 120
    module: dict[str, Any] = {}
    exec(compile(export_python(PLAIN), "exported.py", "exec"), module)
    exported, tanh = (
        onnxruntime.InferenceSession(model) for model in (export_onnx(PLAIN), onnx_tanh())
    )
    ways = {
        "numpy": np.tanh,
        "exported C and Python": lambda x: np.array([module["tanh"](v) for v in x.tolist()]),
        "exported ONNX in onnxruntime": lambda x: exported.run(
            ["action"], {"observation": x[:, None]}
        )[0][:, 0],
        "libm, through math.tanh": lambda x: np.array([math.tanh(v) for v in x.tolist()]),
        "onnxruntime's Tanh": lambda x: tanh.run(None, {"x": x[:, None]})[0][:, 0],
    }
    few, many = numbers(EXACT), numbers(MANY)
    exact = [mpmath.tanh(mpmath.mpf(value)) for value in few.tolist()]
    reference = np.tanh(many)
    print("| tanh | from the exact value, at most | from numpy, at most |")
    print("|---|---|---|")
    for name, way in ways.items():
        found = way(few)
        away = max(
            float(abs(mpmath.mpf(float(a)) - b)) / float(np.spacing(abs(a)))
            for a, b in zip(found, exact, strict=True)
        )
        apart = np.max(np.abs(way(many) - reference) / np.spacing(np.abs(reference)))
        print(f"| {name} | {away:.2f} | {apart:.0f} |")


if __name__ == "__main__":
    main()
