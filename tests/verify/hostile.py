"""Hostile questions, and judges of the answers that share no code with `icct.verify`.

The constants tie with thresholds, bounds and actions to the last bit. Three judges: z3 in real
arithmetic, samples through `act`, and every single observation of boxes that hold few floats.

    python -m tests.verify.hostile --policies 6500
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import z3

from icct.errors import ObservationError
from icct.policy import Leaf, Policy, Split
from icct.verify import Property, Refuted, check
from tests.hostile_policies import (
    LARGEST,
    all_observations,
    hostile_number,
    hostile_policy,
    next_float,
    observations,
    small_box,
)
from tests.verify.judge import exact, z3_counterexample

RELATIONS = ("<", "<=", ">", ">=", "=", "!=")


# -- questions, as text, for z3 and in fractions ---------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """A weighted sum of features and actions, a relation and a number."""

    weights: tuple[tuple[str, float], ...]
    relation: str
    constant: float

    @property
    def text(self) -> str:
        """As icct reads it."""
        total = " + ".join(n if w == 1.0 else f"{w!r} * {n}" for n, w in self.weights)
        return f"{total} {self.relation} {self.constant!r}"

    def holds(self, values: Mapping[str, Any], number: Any = Fraction) -> Any:
        """Return whether it holds: exactly for fractions, as a formula for z3's variables."""
        total = sum((number(w) * values[n] for n, w in self.weights), number(0.0))
        right = number(self.constant)
        return {
            "<": lambda: total < right,
            "<=": lambda: total <= right,
            ">": lambda: total > right,
            ">=": lambda: total >= right,
            "=": lambda: total == right,
            "!=": lambda: total != right,
        }[self.relation]()

    def turned_round(self) -> "Compared":
        """Return what holds when this does not."""
        turned = dict(zip(RELATIONS, (">=", ">", "<=", "<", "!=", "="), strict=True))
        return replace(self, relation=turned[self.relation])


@dataclass(frozen=True)
class Asked:
    """When all of the premise holds, the conclusion should."""

    premise: tuple[Compared, ...]
    conclusion: Compared

    @property
    def text(self) -> str:
        """As icct reads it."""
        if not self.premise:
            return self.conclusion.text
        return f"when {' and '.join(p.text for p in self.premise)} then {self.conclusion.text}"

    def formula(self, values: Mapping[str, Any]) -> Any:
        """Return it for z3."""
        premise = z3.And(*(part.holds(values, exact) for part in self.premise))
        return z3.Implies(premise, self.conclusion.holds(values, exact))

    def is_violated(self, policy: Policy, observation: list[float]) -> bool:
        """Return whether what act() does at an observation inside the bounds violates it."""
        inside = zip(observation, policy.features, strict=True)
        if not all(math.isfinite(x) and f.low <= x <= f.high for x, f in inside):
            return False
        try:
            acted = policy.act(observation).tolist()
        except ObservationError:
            return False
        named = zip((*policy.features, *policy.actions), (*observation, *acted), strict=True)
        values = {part.name: Fraction(value) for part, value in named}
        return all(p.holds(values) for p in self.premise) and not self.conclusion.holds(values)


def hostile_question(policy: Policy, rng: np.random.Generator) -> Asked:
    """Return a question whose numbers often tie with something of the policy."""
    observation = list(next(observations(policy, rng, 1)))
    try:
        acted = policy.act(observation).tolist()
    except ObservationError:
        acted = [1.0] * len(policy.actions)

    def near(numbers: list[float]) -> float:
        finite = [number for number in numbers if math.isfinite(number)]
        if not finite or rng.random() < 0.25:
            return hostile_number(rng)
        tied = float(rng.choice(finite))
        return next_float(tied, int(rng.integers(-1, 2))) if rng.random() < 0.5 else tied

    def on_features() -> Compared:
        feature = int(rng.integers(len(policy.features)))
        one = policy.features[feature]
        relation = RELATIONS[rng.integers(5)]
        other = policy.features[(feature + 1) % len(policy.features)]
        alike = (one.low, one.high) == (other.low, other.high)
        if one == other or rng.random() < (0.3 if alike else 0.8):
            cuts = [n.threshold for n in policy.nodes if isinstance(n, Split)]
            return Compared(((one.name, 1.0),), relation, near([one.low, one.high, *cuts]))
        weight = float(rng.choice([1.0, -1.0, -1.0, -1.0, hostile_number(rng) or 1.0]))
        together = observation[feature] + weight * observation[policy.features.index(other)]
        weights = ((one.name, 1.0), (other.name, weight))
        return Compared(weights, relation, near([together, 0.0, 0.0]))

    def on_actions() -> Compared:
        position = int(rng.integers(len(policy.actions)))
        one, kind = policy.actions[position], rng.random()
        relation = RELATIONS[rng.integers(6)]
        if kind < 0.8:
            leaves = (n for n in policy.nodes if isinstance(n, Leaf))
            biases = [leaf.controllers[position].bias for leaf in leaves]
            shifted = [bias + shift for bias in biases for shift in (-0.5, 0.0, 0.5)]
            ends = [*[acted[position]] * 4, one.low, one.high, *shifted]
            return Compared(((one.name, 1.0),), relation, near(ends))
        if kind < 0.9 and len(policy.actions) > 1:
            weights = (("a0", 1.0), ("a1", -1.0))
            return Compared(weights, RELATIONS[rng.integers(4)], near([acted[0] - acted[1], 0.0]))
        feature = int(rng.integers(len(policy.features)))
        weights = ((one.name, 1.0), (policy.features[feature].name, -1.0))
        apart = acted[position] - observation[feature]
        return Compared(weights, RELATIONS[rng.integers(4)], near([apart, 0.0]))

    seen = {f.name: Fraction(x) for f, x in zip(policy.features, observation, strict=True)}
    premise = [on_features() for _ in range(rng.choice([0, 0, 1, 1, 2]))]
    if rng.random() < 0.8:  # else it is often vacuous
        premise = [part if part.holds(seen) else part.turned_round() for part in premise]
    return Asked(tuple(premise), on_actions())


# -- judges ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What icct said, and what the judges hold against it: nothing, when all is well."""

    word: str
    wrong: str = ""


def verdict_on(policy: Policy, asked: Asked, rng: np.random.Generator, rows: int) -> Verdict:
    """Return icct's answer to a question and whether a judge knows better."""
    answer = check(policy, Property(asked.text))
    if isinstance(answer, Refuted):
        replays = asked.is_violated(policy, [value for _, value in answer.observation])
        return Verdict("refuted", "" if replays else "does not replay")
    everything = all_observations(policy)
    numbers = [part.constant for part in asked.premise]
    tried = everything or observations(policy, rng, rows, numbers)
    if answer.word != "unknown":
        if any(asked.is_violated(policy, list(observation)) for observation in tried):
            return Verdict(answer.word, "an observation violates it")
        if everything is None and policy.squash != "tanh":
            for observation in around_z3(policy, asked):
                if asked.is_violated(policy, observation):
                    return Verdict(answer.word, "z3 knows an observation that violates it")
    return Verdict(answer.word)


def around_z3(policy: Policy, asked: Asked) -> Iterator[list[float]]:
    """Yield the floats around an observation that violates the property in real arithmetic."""
    found = z3_counterexample(policy, asked.formula)
    if found is None:
        return
    choices = []
    for value in found:
        try:
            nearest = float(value)
        except OverflowError:
            nearest = LARGEST if value > 0 else -LARGEST
        choices.append([nearest, next_float(nearest, 1), next_float(nearest, -1)])
    yield from map(list, product(*choices))


def hostile_case(seed: int) -> tuple[Policy, Asked, np.random.Generator]:
    """Return a policy and a question: two in five clip, two in five do not squash, one is tanh."""
    rng = np.random.default_rng([seed, 1])
    squash = ("clip", "clip", "none", "none", "tanh")[seed % 5]
    policy = replace(hostile_policy(seed), squash=squash)
    if seed % 3 == 0:
        policy = small_box(policy, rng)
    return policy, hostile_question(policy, rng), rng


def answers(seeds: range, rows: int) -> tuple[Counter[str], list[str]]:
    """Return how often each answer was given, and what was wrong."""
    words: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        policy, asked, rng = hostile_case(seed)
        verdict = verdict_on(policy, asked, rng, rows)
        words[verdict.word] += 1
        if verdict.wrong:
            wrong.append(f"{seed}: {asked.text}: {verdict.word}, but {verdict.wrong}")
    return words, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=int, default=6500)
    parser.add_argument("--rows", type=int, default=300, help="samples for each proof")
    options = parser.parse_args()
    counted, mistakes = answers(range(options.policies), options.rows)
    print(", ".join(f"{word} {count}" for word, count in counted.most_common()))
    print(f"{len(mistakes)} wrong", *mistakes, sep="\n")
