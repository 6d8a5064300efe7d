"""Hostile policies and questions, and judges of the answers that share no code with `icct.verify`.

Numbers from 1e-320 to 1e308, bounds that are one number, a few floats, one-sided or missing, and
constants that tie with thresholds, bounds and actions to the last bit. Three judges: z3 in real
arithmetic, samples through `act`, and every single observation of boxes that hold few floats.

    python -m tests.verify.hostile --policies 5000
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import z3

from icct.errors import ObservationError
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.verify import Property, Refuted, check
from tests.verify.judge import exact, z3_counterexample

LARGEST = sys.float_info.max
PLACES = (0.0, 5e-324, 1e-320, 2.2250738585072014e-308, 0.1, 1.0, 2.0**53, 1e16, 1e155, LARGEST)
RELATIONS = ("<", "<=", ">", ">=", "=", "!=")
MOST_OBSERVATIONS = 4_000  # of a box that is tried whole


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


# -- random policies and questions -----------------------------------------------------------------


def hostile_number(rng: np.random.Generator) -> float:
    """Return any float: 0, whole, ordinary, of any magnitude, or at a place where things change."""
    sign = float(rng.choice([-1.0, 1.0]))
    kind = rng.integers(10)
    if kind < 3:
        return float(rng.integers(-3, 4))
    if kind < 6:
        return float(rng.normal() * 10.0 ** rng.integers(-3, 4))
    if kind < 9:
        return sign * min(rng.uniform(1, 10) * float(f"1e{rng.integers(-320, 309)}"), LARGEST)
    place = float(rng.choice(PLACES))
    return sign * float(rng.choice([place, next_float(place, 1), next_float(place, -1)]))


def next_float(number: float, steps: int) -> float:
    """Return a neighbour of a float; the largest floats have none beyond them."""
    for _ in range(abs(steps)):
        number = math.nextafter(number, math.copysign(math.inf, steps))
    return min(max(number, -LARGEST), LARGEST)


def hostile_bounds(rng: np.random.Generator) -> tuple[float, float]:
    """Return bounds: one number, a few floats, one-sided, none, or two hostile numbers."""
    low, kind = hostile_number(rng), rng.integers(8)
    if kind == 0:
        return low, low
    if kind == 1:
        return low, next_float(low, int(rng.integers(1, 12)))
    if kind == 2:
        return (low, math.inf) if rng.random() < 0.5 else (-math.inf, low)
    if kind == 3:
        return -math.inf, math.inf
    if kind < 6:
        return -abs(low), abs(low)
    low, high = sorted((low, hostile_number(rng)))
    return low, high


def hostile_policy(seed: int) -> Policy:
    """Return a small tree; half of them have weights that fit the magnitudes of their features."""
    rng = np.random.default_rng(seed)
    features = [hostile_bounds(rng) for _ in range(rng.integers(1, 4))]
    actions, fits = int(rng.integers(1, 3)), rng.random() < 0.5

    def weight(feature: int) -> float:
        reach = max((abs(end) for end in features[feature] if math.isfinite(end)), default=1.0)
        if not fits or not 1e-290 < reach < 1e290:
            return hostile_number(rng)
        return float(rng.normal()) / reach

    def rule() -> Controller:
        used = rng.choice(len(features), size=rng.integers(0, len(features) + 1), replace=False)
        bias = float(rng.integers(-1, 2)) if fits else hostile_number(rng)
        return Controller(tuple((int(f), weight(int(f))) for f in used), bias)

    def threshold(feature: int) -> float:
        ends = [end for end in features[feature] if math.isfinite(end)]
        if not ends or rng.random() < 0.3:
            return hostile_number(rng)
        if rng.random() < 0.5 and len(ends) == 2:
            return ends[0] / 2 + ends[1] / 2
        return next_float(float(rng.choice(ends)), int(rng.integers(-1, 2)))

    def leaf() -> Leaf:
        return Leaf(tuple(rule() for _ in range(actions)))

    nodes: list[Split | Leaf] = [leaf()]
    for _ in range(rng.integers(0, 4)):
        place = int(rng.choice([i for i, node in enumerate(nodes) if isinstance(node, Leaf)]))
        feature = int(rng.integers(len(features)))
        nodes += [nodes[place], leaf()]
        nodes[place] = Split(feature, threshold(feature), len(nodes) - 2, len(nodes) - 1)
    limits = [sorted(hostile_number(rng) for _ in range(2)) for _ in range(actions)]
    if rng.random() < 0.5:
        limits = [[-1.0, 1.0] for _ in range(actions)]
    return Policy(
        f"hostile-{seed}",
        tuple(Feature(f"x{i}", "", *ends) for i, ends in enumerate(features)),
        tuple(Action(f"a{i}", "", *ends) for i, ends in enumerate(limits)),
        tuple(nodes),
        "clip",
    )


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
        if rng.random() < 0.8 or len(policy.features) < 2:
            cuts = [n.threshold for n in policy.nodes if isinstance(n, Split)]
            return Compared(((one.name, 1.0),), relation, near([one.low, one.high, *cuts]))
        other = policy.features[(feature + 1) % len(policy.features)]
        weight = float(rng.choice([1.0, -1.0, hostile_number(rng) or 1.0]))
        together = observation[feature] + weight * observation[policy.features.index(other)]
        weights = ((one.name, 1.0), (other.name, weight))
        return Compared(weights, RELATIONS[rng.integers(4)], near([together, 0.0]))

    def on_actions() -> Compared:
        position = int(rng.integers(len(policy.actions)))
        one, kind = policy.actions[position], rng.random()
        relation = RELATIONS[rng.integers(6)]
        if kind < 0.8:
            ends = [acted[position], acted[position], one.low, one.high]
            return Compared(((one.name, 1.0),), relation, near(ends))
        if kind < 0.9 and len(policy.actions) > 1:
            weights = (("a0", 1.0), ("a1", -1.0))
            return Compared(weights, RELATIONS[rng.integers(4)], near([acted[0] - acted[1], 0.0]))
        feature = int(rng.integers(len(policy.features)))
        weights = ((one.name, 1.0), (policy.features[feature].name, -1.0))
        apart = acted[position] - observation[feature]
        return Compared(weights, RELATIONS[rng.integers(4)], near([apart, 0.0]))

    premise = tuple(on_features() for _ in range(rng.choice([0, 0, 1, 1, 2])))
    return Asked(premise, on_actions())


# -- judges ----------------------------------------------------------------------------------------


def observations(
    policy: Policy, rng: np.random.Generator, rows: int, asked: Asked | None = None
) -> Iterator[tuple[float, ...]]:
    """Yield observations inside the bounds: at ends, thresholds, constants, their neighbours."""
    places = [_places(policy, feature, asked) for feature in range(len(policy.features))]
    for _ in range(rows):
        values = []
        for feature, near in zip(policy.features, places, strict=True):
            kind = rng.random()
            value = float(rng.choice(near))
            if kind < 0.3:
                value = next_float(value, int(rng.integers(-2, 3)))
            elif kind < 0.6:
                low, high = max(feature.low, -LARGEST), min(feature.high, LARGEST)
                share = float(rng.random())
                value = low * (1 - share) + high * share
            elif kind < 0.8:
                value = hostile_number(rng)
            values.append(min(max(value, feature.low), feature.high))
        yield tuple(values)


def _places(policy: Policy, feature: int, asked: Asked | None) -> list[float]:
    own = policy.features[feature]
    places = [end for end in (own.low, own.high) if math.isfinite(end)] + [0.0, 1.0, -1.0]
    places += [n.threshold for n in policy.nodes if isinstance(n, Split) and n.feature == feature]
    if asked is not None:
        places += [p.constant for p in asked.premise if p.weights[0][0] == own.name]
    return places


def all_observations(policy: Policy) -> list[tuple[float, ...]] | None:
    """Return every observation inside the bounds; None when they are too many."""
    columns, count = [], 1
    for feature in policy.features:
        column, value = [], feature.low
        while value <= feature.high and len(column) <= MOST_OBSERVATIONS // count:
            column.append(value)
            value = math.nextafter(value, math.inf)
        columns.append(column)
        count *= len(column)
        if count > MOST_OBSERVATIONS or not math.isfinite(feature.low):
            return None
    return list(product(*columns))


def small_box(policy: Policy, rng: np.random.Generator) -> Policy:
    """Return the policy with bounds that hold few floats, around a threshold where it has one."""

    def few(feature: Feature, index: int) -> Feature:
        cuts = [n.threshold for n in policy.nodes if isinstance(n, Split) and n.feature == index]
        start = next_float(float(rng.choice(cuts or [hostile_number(rng)])), -int(rng.integers(6)))
        return replace(feature, low=start, high=next_float(start, int(rng.integers(10))))

    return replace(policy, features=tuple(few(f, i) for i, f in enumerate(policy.features)))


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
    tried = everything or observations(policy, rng, rows, asked)
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
            nearest = math.copysign(LARGEST, value)
        choices.append([nearest, next_float(nearest, 1), next_float(nearest, -1)])
    yield from map(list, product(*choices))


def answers(seeds: range, rows: int) -> tuple[Counter[str], list[str]]:
    """Return how often each answer was given, and what was wrong."""
    words: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        policy = replace(
            hostile_policy(seed), squash=("clip", "none", "tanh")[min(seed % 5, 4) // 2]
        )
        policy = small_box(policy, rng) if seed % 3 == 0 else policy
        verdict = verdict_on(policy, asked := hostile_question(policy, rng), rng, rows)
        words[verdict.word] += 1
        if verdict.wrong:
            wrong.append(f"{seed}: {asked.text}: {verdict.word}, but {verdict.wrong}")
    return words, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=300, help="samples for each proof")
    options = parser.parse_args()
    counted, mistakes = answers(range(options.policies), options.rows)
    print(", ".join(f"{word} {count}" for word, count in counted.most_common()))
    print(f"{len(mistakes)} wrong", *mistakes, sep="\n")
