"""The same questions to a tree and to a network of 2 x 256 units that imitates it, in one run.

Usage: python benchmarks/verify_network.py [--seconds 30] [--steps 4000]

Needs torch, scipy and Marabou (`pip install maraboupy`, a complete verifier for ReLU networks, for
Python up to 3.12; it may go into an environment of its own). The network is trained here by
regression on the actions of `benchmarks/lander.json`. Each question of the lunar lander whose
premise is a box
and whose conclusion limits one action is asked of the tree through `icct.verify`, and of the
network through Marabou and as a mixed-integer program through SciPy's HiGHS, each with a time
limit; then again over boxes of a quarter and a sixteenth of the width. tanh rises, so the limit is
put on what goes into it. Prints a Markdown table; behind a refutation of the network stands by how
much its point, replayed in float64, gets beyond the limit.
"""

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.policy import Policy
from icct.policy.file import read_policy
from icct.verify import Property, check, read_properties
from icct.verify.question import questions

HIDDEN = 256
Array = NDArray[np.float64]
Layers = list[tuple[Array, Array]]  # (weights, biases), ReLU between them


@dataclass(frozen=True)
class Violation:
    """Is there an x in the box for which sign times output `action` is at least `limit`?"""

    low: Array
    high: Array
    action: int
    sign: int
    limit: float


def violation_of(policy: Policy, asked: Property) -> Violation | None:
    """Return what would violate a property, before tanh; None when it is not of this form."""
    cases = questions(policy, asked.violation)
    if len(cases) != 1 or cases[0].rows or len(cases[0].action_rows) != 1:
        return None
    limit = cases[0].action_rows[0].limit
    if limit is None or abs(limit[2]) >= 1:
        return None
    action, way, edge = limit
    low, high = (np.array([getattr(i, end) for i in cases[0].box]) for end in ("low", "high"))
    return Violation(low, high, action, way, way * math.atanh(float(edge)))


def shrunk(policy: Policy, asked: Property, factor: float) -> Property:
    """Return the property over a box around the same middle, narrower by a factor."""
    violation = violation_of(policy, asked)
    assert violation is not None
    middle, half = (violation.low + violation.high) / 2, (violation.high - violation.low) / 2
    limits = [
        f"{float(m - factor * h)!r} <= {feature.name} <= {float(m + factor * h)!r}"
        for feature, m, h in zip(policy.features, middle, half, strict=True)
    ]
    conclusion = asked.text.partition(" then ")[2]
    return Property(f"when {' and '.join(limits)} then {conclusion}", f"{asked.name}, x {factor:g}")


def imitation(policy: Policy, steps: int, seed: int = 0) -> tuple[Layers, float]:
    """Return a network trained to act as the policy, and its mean absolute error."""
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    high = np.array([feature.high for feature in policy.features])
    low = np.array([feature.low for feature in policy.features])
    net = torch.nn.Sequential(
        torch.nn.Linear(len(high), HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, len(policy.actions)),
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

    def batch(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        wide = rng.uniform(low, high, (rows, len(high)))
        near = np.clip(rng.normal(size=wide.shape) * 0.5, low, high)  # where landers mostly are
        table = np.where(rng.random((rows, 1)) < 0.2, wide, near)
        return (
            torch.tensor(table / high, dtype=torch.float32),
            torch.tensor(policy.act_batch(table), dtype=torch.float32),
        )

    for _ in range(steps):
        seen, wanted = batch(256)
        loss = ((torch.tanh(net(seen)) - wanted) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    seen, wanted = batch(10_000)
    error = float((torch.tanh(net(seen)) - wanted).abs().mean().detach())
    layers = [
        (layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy())
        for layer in net
        if isinstance(layer, torch.nn.Linear)
    ]
    first, bias = layers[0]
    return [(first / high, bias), *layers[1:]], error


def output(layers: Layers, x: Array) -> Array:
    """Return what the network computes before tanh."""
    for weights, bias in layers[:-1]:
        x = np.maximum(weights @ x + bias, 0)
    weights, bias = layers[-1]
    return weights @ x + bias


def ask_marabou(layers: Layers, asked: Violation, seconds: int) -> str:
    """Return Marabou's answer."""
    from maraboupy import Marabou
    from maraboupy.MarabouNetwork import MarabouNetwork

    query = MarabouNetwork()

    def variables(count: int) -> list[int]:
        return [query.getNewVariable() for _ in range(count)]

    def affine(weights: Array, bias: Array, inputs: list[int]) -> list[int]:
        outputs = variables(len(bias))
        for row, constant, out in zip(weights, bias, outputs, strict=True):
            query.addEquality([*inputs, out], [*map(float, row), -1.0], -float(constant))
        return outputs

    here = variables(len(asked.low))
    query.inputVars = [np.array(here)]
    for variable, low, high in zip(here, asked.low, asked.high, strict=True):
        query.setLowerBound(variable, float(low))
        query.setUpperBound(variable, float(high))
    inputs = here
    for weights, bias in layers[:-1]:
        before = affine(weights, bias, here)
        here = variables(len(before))
        for one, other in zip(before, here, strict=True):
            query.addRelu(one, other)
    outputs = affine(*layers[-1], here)
    query.outputVars = [np.array(outputs)]
    query.addInequality([outputs[asked.action]], [-float(asked.sign)], -asked.limit)
    options = Marabou.createOptions(timeoutInSeconds=seconds, verbosity=0)
    word, values, _ = query.solve(verbose=False, options=options)
    if word == "sat":
        point = np.array([values[variable] for variable in inputs])
        return f"refuted ({asked.sign * output(layers, point)[asked.action] - asked.limit:+.2g})"
    return {"unsat": "proved", "TIMEOUT": "time out"}.get(word, word)


def ask_highs(layers: Layers, asked: Violation, seconds: int) -> str:
    """Return the answer of a mixed-integer program, with bounds of the units by intervals."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_matrix

    sizes = [len(asked.low), *(len(bias) for _, bias in layers[:-1])]
    count = sum(sizes) + sum(sizes[1:])  # inputs and units, then one switch for each unit
    starts = np.cumsum([0, *sizes])
    low, high = asked.low, asked.high
    lows, highs = [low], [high]
    rows: list[tuple[dict[int, float], float]] = []  # sum of weights <= number
    for layer, (weights, bias) in enumerate(layers[:-1]):
        centre, radius = (low + high) / 2, (high - low) / 2
        middle, spread = weights @ centre + bias, np.abs(weights) @ radius
        least, most = middle - spread, middle + spread
        for unit in range(len(bias)):
            out, switch = starts[layer + 1] + unit, sum(sizes) + starts[layer + 1] - sizes[0] + unit
            terms = {starts[layer] + i: w for i, w in enumerate(weights[unit])}
            minus = {i: -w for i, w in terms.items()}
            down, up = min(least[unit], 0.0), max(most[unit], 0.0)
            rows.append(({**terms, out: -1.0}, -bias[unit]))  # out >= before
            rows.append(({**minus, out: 1.0, switch: -down}, bias[unit] - down))
            rows.append(({out: 1.0, switch: -up}, 0.0))
        low, high = np.maximum(least, 0), np.maximum(most, 0)
        lows.append(low)
        highs.append(high)
    matrix, right = lil_matrix((len(rows), count)), np.empty(len(rows))
    for index, (weights_of, number) in enumerate(rows):
        right[index] = number
        for column, weight in weights_of.items():
            matrix[index, column] = weight
    weights, bias = layers[-1]
    objective = np.zeros(count)
    objective[starts[-2] : starts[-1]] = -asked.sign * weights[asked.action]
    switches = sum(sizes[1:])
    result = milp(
        objective,
        integrality=np.r_[np.zeros(sum(sizes)), np.ones(switches)],
        bounds=Bounds(
            np.r_[np.concatenate(lows), np.zeros(switches)],
            np.r_[np.concatenate(highs), np.ones(switches)],
        ),
        constraints=LinearConstraint(matrix.tocsr(), -np.inf, right),
        options={"time_limit": seconds},
    )
    shift = asked.sign * bias[asked.action] - asked.limit
    if result.x is not None and -result.fun + shift >= 0:
        point = result.x[: sizes[0]]
        return f"refuted ({asked.sign * output(layers, point)[asked.action] - asked.limit:+.2g})"
    bound = result.mip_dual_bound
    if bound is not None and -bound + shift < 0:
        return "proved"
    return "time out"


def timed(call: Callable[..., Any], *arguments: object) -> tuple[Any, float]:
    """Return what a call returns, and the seconds it took."""
    start = time.perf_counter()
    returned = call(*arguments)
    return returned, time.perf_counter() - start


def main() -> None:
    """Train, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=30, help="time limit of each question")
    parser.add_argument("--steps", type=int, default=4000, help="of the network's training")
    options = parser.parse_args()
    policy = read_policy(Path(__file__).with_name("lander.json"))
    layers, error = imitation(policy, options.steps)
    print(f"network: mean absolute error {error:.3f} against the tree\n")
    print("| question | tree, icct | network, Marabou | network, HiGHS |")
    print("|---|---|---|---|")
    plain = [one for one in read_properties("lunar-lander") if violation_of(policy, one)]
    narrow = [shrunk(policy, one, factor) for factor in (1 / 4, 1 / 16) for one in plain]
    for asked in (*plain, *narrow):
        violation = violation_of(policy, asked)
        assert violation is not None
        answer = check(policy, asked)
        seconds = median(timed(check, policy, asked)[1] for _ in range(9))
        cells = [f"{answer.word}, {1000 * seconds:.2f} ms"]
        for verifier in (ask_marabou, ask_highs):
            word, seconds = timed(verifier, layers, violation, options.seconds)
            cells.append(f"{word}, {seconds:.1f} s")
        print(f"| {asked.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
