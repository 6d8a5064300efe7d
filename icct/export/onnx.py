"""Policy → ONNX model: raw observations in, raw actions and leaf numbers out, any batch size.

The tree is one TreeEnsembleRegressor that names the leaf; the leaf's rules are gathered and summed
in the order of `Policy.act`, so that the sums agree to the last bit. A model cannot refuse: where
`act` does, the leaf is -1 and the action NaN.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.errors import MissingExtraError
from icct.export import tanh
from icct.export.about import about, inputs, outputs
from icct.export.precision import Precision, check_precision, threshold
from icct.policy import Leaf, Policy, Split

OPSET = 17  # of ai.onnx
TREE_OPSET = 3  # of ai.onnx.ml
IR_VERSION = 8  # the oldest that goes with these
INT64 = 7  # ONNX's number for the type


def export_onnx(policy: Policy, precision: Precision = "double") -> bytes:
    """Return the policy as the bytes of an ONNX model.

    Input `observation` (n, n_features), outputs `action` (n, n_actions) and `leaf` (n, 1); opset 17
    and ai.onnx.ml 3.

    Args:
        policy: The policy to write.
        precision: `double` acts as the policy does; `float` reaches the same leaf for every float
            observation, with the action to float precision.

    >>> from icct.zoo import zoo_policy
    >>> type(export_onnx(zoo_policy("ring-cruiser")))
    <class 'bytes'>
    """
    check_precision(policy, precision)
    graph = _Graph(np.float64 if precision == "double" else np.float32)
    leaf = _leaf(graph, policy, precision)
    flat = graph.add("Squeeze", leaf, graph.whole([1]))
    value = _rules(graph, policy, flat)
    action = _squashed(graph, policy, flat, value)
    _finish(graph, action, leaf)
    return graph.model(policy)


class _Graph:
    """Nodes and constants of a model under construction; every call adds one node."""

    def __init__(self, real: type[np.float64] | type[np.float32]) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingExtraError(
                'ONNX export needs the package onnx. Install it with: pip install "icct[export]"'
            ) from None
        self._onnx = onnx
        self.real = real
        self.nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operator: str, *names: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = output or f"{operator.lower()}_{len(self.nodes)}"
        domain = "ai.onnx.ml" if operator.startswith("Tree") else ""
        self.nodes.append(
            self._onnx.helper.make_node(
                operator, names, [name], name=name, domain=domain, **attributes
            )
        )
        return name

    def tensor(self, values: Any, kind: type[np.generic]) -> Any:
        """Return values as a tensor for an attribute."""
        return self._onnx.numpy_helper.from_array(np.asarray(values, dtype=kind), "values")

    def whole(self, values: Any) -> str:
        """Add a constant of whole numbers and return its name."""
        return self._constant(np.asarray(values, dtype=np.int64))

    def number(self, values: Any) -> str:
        """Add a constant in the model's precision and return its name."""
        return self._constant(np.asarray(values, dtype=self.real))

    def _constant(self, values: NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def model(self, policy: Policy) -> bytes:
        """Return the finished model, checked, as a file's content."""
        helper = self._onnx.helper
        real = helper.np_dtype_to_tensor_dtype(np.dtype(self.real))
        whole = helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))
        graph = helper.make_graph(
            self.nodes,
            "policy",
            [helper.make_tensor_value_info("observation", real, ["n", len(policy.features)])],
            [
                helper.make_tensor_value_info("action", real, ["n", len(policy.actions)]),
                helper.make_tensor_value_info("leaf", whole, ["n", 1]),
            ],
            self._constants,
        )
        model = helper.make_model(
            graph,
            producer_name="icct",
            opset_imports=[
                helper.make_opsetid("", OPSET),
                helper.make_opsetid("ai.onnx.ml", TREE_OPSET),
            ],
            ir_version=IR_VERSION,
            doc_string="\n".join([*about(policy), "", *inputs(policy), "", *outputs(policy)]),
        )
        self._onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content


def _leaf(graph: _Graph, policy: Policy, precision: Precision) -> str:
    """Add the tree; return the node number of the leaf, shape (n, 1)."""
    splits = [node if isinstance(node, Split) else None for node in policy.nodes]
    count, leaves = len(policy.nodes), policy.leaves
    chosen = graph.add(
        "TreeEnsembleRegressor",
        "observation",
        n_targets=1,
        nodes_treeids=[0] * count,
        nodes_nodeids=list(range(count)),
        nodes_featureids=[split.feature if split else 0 for split in splits],
        nodes_modes=["BRANCH_LEQ" if split else "LEAF" for split in splits],
        nodes_truenodeids=[split.below if split else 0 for split in splits],
        nodes_falsenodeids=[split.above if split else 0 for split in splits],
        nodes_values_as_tensor=graph.tensor(
            [threshold(split.threshold, precision) if split else 0.0 for split in splits],
            graph.real,
        ),
        target_treeids=[0] * len(leaves),
        target_nodeids=list(leaves),
        target_ids=[0] * len(leaves),
        target_weights_as_tensor=graph.tensor(leaves, graph.real),
    )
    return graph.add("Cast", chosen, to=INT64)


def _rules(graph: _Graph, policy: Policy, flat: str) -> str:
    """Add the linear rules of the leaf; return their values, shape (n, n_actions).

    Rule by rule the terms are numbered; term k of every node and action stands in one table. A rule
    with fewer terms adds -1 times a column of zeros: to add -0 changes no number, to add 0 makes 0
    of -0.
    """
    table = graph.add("Pad", "observation", graph.whole([0, 0, 0, 1]))
    rules = [node.controllers if isinstance(node, Leaf) else () for node in policy.nodes]
    biases = np.zeros((len(rules), len(policy.actions)))
    for index, controllers in enumerate(rules):
        biases[index] = [rule.bias for rule in controllers] or 0.0
    total = graph.add("Gather", graph.number(biases), flat, axis=0)
    for term in range(max(len(rule.weights) for node in rules for rule in node)):
        features = np.full(biases.shape, len(policy.features))
        weights = np.full(biases.shape, -1.0)
        for index, controllers in enumerate(rules):
            for position, rule in enumerate(controllers):
                if term < len(rule.weights):
                    features[index, position], weights[index, position] = rule.weights[term]
        which = graph.add("Gather", graph.whole(features), flat, axis=0)
        weight = graph.add("Gather", graph.number(weights), flat, axis=0)
        value = graph.add("GatherElements", table, which, axis=1)
        total = graph.add("Add", total, graph.add("Mul", weight, value))
    return total


def _squashed(graph: _Graph, policy: Policy, flat: str, value: str) -> str:
    def for_each_leaf(numbers: list[float]) -> str:
        # onnxruntime leaves out what adds 0 or multiplies by 1, and rounds a lone constant to float
        # to see whether it does: a limit of 1e-300 would be lost. A table it does not look into.
        table = np.tile(numbers, (len(policy.nodes), 1))
        return graph.add("Gather", graph.number(table), flat, axis=0)

    if policy.squash == "tanh":
        centre = for_each_leaf([action.centre for action in policy.actions])
        half_range = for_each_leaf([action.half_range for action in policy.actions])
        return graph.add("Add", centre, graph.add("Mul", half_range, _tanh(graph, value)))
    if policy.squash == "clip":  # as Max and Min, but those make 0 of -0 and -0 of 0
        low = graph.number([action.low for action in policy.actions])
        high = graph.number([action.high for action in policy.actions])
        raised = graph.add("Where", graph.add("Less", value, low), low, value)
        return graph.add("Where", graph.add("Greater", raised, high), high, raised)
    return value


def _tanh(graph: _Graph, x: str) -> str:
    """Add the tanh of exported code: onnxruntime's own is up to 6 units in the last place off."""
    one, two = graph.number(1.0), graph.number(2.0)
    size = graph.add("Abs", x)
    near = graph.add("Min", size, graph.number(tanh.RATIONAL_UP_TO))
    z = graph.add("Mul", near, near)
    above, below = (
        _polynomial(graph, coefficients, z) for coefficients in (tanh.NUMERATOR, tanh.DENOMINATOR)
    )
    correction = graph.add("Mul", graph.add("Mul", near, z), graph.add("Div", above, below))
    rational = graph.add("Add", near, correction)
    far = graph.add("Min", size, graph.number(tanh.ONE_FROM))
    grown = graph.add("Add", graph.add("Exp", graph.add("Mul", two, far)), one)
    exponential = graph.add("Sub", one, graph.add("Div", two, grown))
    is_near = graph.add("Less", size, graph.number(tanh.RATIONAL_UP_TO))
    return graph.add(
        "Mul", graph.add("Sign", x), graph.add("Where", is_near, rational, exponential)
    )


def _polynomial(graph: _Graph, coefficients: tuple[float, ...], z: str) -> str:
    total = graph.number(coefficients[0])
    for coefficient in coefficients[1:]:
        total = graph.add("Add", graph.add("Mul", total, z), graph.number(coefficient))
    return total


def _finish(graph: _Graph, action: str, leaf: str) -> None:
    """Add the outputs; 0 times a number that is not finite is NaN, which marks the whole row.

    Otherwise the mark is made -0, which can be added to any number without changing it.
    """
    zero, columns = graph.number(0.0), graph.whole([1])
    marks = [
        graph.add("ReduceSum", graph.add("Mul", zero, numbers), columns, keepdims=1)
        for numbers in ("observation", action)
    ]
    mark = graph.add("Neg", graph.add("Abs", graph.add("Add", *marks)))
    graph.add("Add", action, mark, output="action")
    graph.add("Where", graph.add("IsNaN", mark), graph.whole(-1), leaf, output="leaf")
