"""An independent judge: random properties as text for us and as formulas over the reals for z3."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from icct.policy import Policy, Split

RELATIONS = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Asked:
    """One property twice: `text` for icct, `formula` for z3."""

    text: str
    formula: Any


def exact(value: float) -> Any:
    """Return a float as z3's rational number."""
    fraction = Fraction(value)
    return z3.Q(fraction.numerator, fraction.denominator)


def z3_proves(policy: Policy, formula: Any) -> bool:
    """Return z3's word on whether the formula holds for every observation in the bounds."""
    return z3_counterexample(policy, formula) is None


def z3_counterexample(policy: Policy, formula: Any) -> list[Fraction] | None:
    """Return z3's observation for which the formula does not hold, in real arithmetic."""
    values = {part.name: z3.Real(part.name) for part in (*policy.features, *policy.actions)}
    solver = z3.SolverFor("QF_LRA")
    for feature in policy.features:
        if np.isfinite(feature.low):
            solver.add(values[feature.name] >= exact(feature.low))
        if np.isfinite(feature.high):
            solver.add(values[feature.name] <= exact(feature.high))
    solver.add(z3.Not(formula(values)))
    return _found(policy, values, solver, 0)


def _found(
    policy: Policy, values: dict[str, Any], solver: Any, index: int
) -> list[Fraction] | None:
    """Return what the solver finds below a node."""
    node = policy.nodes[index]
    found = None
    solver.push()
    if isinstance(node, Split):
        tested = values[policy.features[node.feature].name] > exact(node.threshold)
        for side, child in ((tested, node.above), (z3.Not(tested), node.below)):
            solver.push()
            solver.add(side)
            found = found or _found(policy, values, solver, child)
            solver.pop()
    else:
        for action, rule in zip(policy.actions, node.controllers, strict=True):
            total = exact(rule.bias)
            for feature, weight in rule.weights:
                total = total + exact(weight) * values[policy.features[feature].name]
            if policy.squash == "clip":
                low, high = exact(action.low), exact(action.high)
                total = z3.If(total < low, low, z3.If(total > high, high, total))
            solver.add(values[action.name] == total)
        answer = solver.check()
        assert answer != z3.unknown
        if answer == z3.sat:
            model = solver.model()
            named = (values[feature.name] for feature in policy.features)
            found = [model.eval(value, model_completion=True).as_fraction() for value in named]
    solver.pop()
    return found


def random_question(policy: Policy, rng: np.random.Generator) -> Asked:
    """Return a random property: up to three comparisons as premise, a conclusion on actions."""
    conclusion = _joined([_on_actions(policy, rng) for _ in range(rng.integers(1, 3))], rng)
    if rng.random() < 0.3:
        return Asked(conclusion.text, conclusion.formula)
    premise = _joined([_on_features(policy, rng) for _ in range(rng.integers(1, 4))], rng)
    return Asked(
        f"when {premise.text} then {conclusion.text}",
        lambda v: z3.Implies(premise.formula(v), conclusion.formula(v)),
    )


def _on_features(policy: Policy, rng: np.random.Generator) -> Asked:
    terms = rng.choice(
        len(policy.features), size=min(len(policy.features), _few(rng)), replace=False
    )
    names = [policy.features[int(i)].name for i in terms]
    return _comparison(names, rng, scale=2.0)


def _on_actions(policy: Policy, rng: np.random.Generator) -> Asked:
    action = policy.actions[int(rng.integers(len(policy.actions)))].name
    names = [action]
    if rng.random() < 0.15:
        names.append(policy.features[int(rng.integers(len(policy.features)))].name)
    if rng.random() < 0.15 and len(policy.actions) > 1:
        names = sorted({*names, policy.actions[int(rng.integers(len(policy.actions)))].name})
    return _comparison(names, rng, scale=10.0 ** rng.integers(-1, 3))


def _few(rng: np.random.Generator) -> int:
    return int(rng.choice([1, 1, 1, 2, 3]))


def _comparison(names: list[str], rng: np.random.Generator, scale: float) -> Asked:
    weights = [1.0 if len(names) == 1 else round(float(rng.normal()), 3) for _ in names]
    constant = round(float(rng.normal() * scale), 4)
    relation = RELATIONS[rng.integers(4)]
    absolute = rng.random() < 0.15
    total = " + ".join(
        name if weight == 1.0 else f"{weight!r} * {name}"
        for weight, name in zip(weights, names, strict=True)
    )
    text = f"{f'abs({total})' if absolute else total} {relation} {constant!r}"

    def formula(values: dict[str, Any]) -> Any:
        left = z3.Sum([exact(w) * values[n] for w, n in zip(weights, names, strict=True)])
        if absolute:
            left = z3.If(left >= 0, left, -left)
        right = exact(constant)
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
            relation
        ]

    return Asked(text, formula)


def _joined(parts: list[Asked], rng: np.random.Generator) -> Asked:
    if rng.random() < 0.15:
        first = parts[0]
        negation = Asked(f"not ({first.text})", lambda v: z3.Not(first.formula(v)))
        parts = [negation, *parts[1:]]
    both = rng.random() < 0.7
    text = (" and " if both else " or ").join(f"({part.text})" for part in parts)
    combine = z3.And if both else z3.Or
    return Asked(text, lambda v: combine(*(part.formula(v) for part in parts)))
