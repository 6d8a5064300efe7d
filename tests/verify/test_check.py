"""Proved, refuted, unknown: by hand, against z3, and against samples."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.verify import Answer, Property, Proved, Refuted, Unknown, Vacuous, check
from icct.verify.condition import AllOf, Comparison, Condition
from tests.random_policies import observations_around, random_policy
from tests.verify.judge import random_question, z3_proves

INFINITE = (-math.inf, math.inf)


def rule(bias: float = 0.0, **weights: float) -> Leaf:
    return Leaf((Controller(tuple((int(k[1:]), w) for k, w in weights.items()), bias),))


def policy(
    *nodes: Split | Leaf, squash: str = "none", x0: Any = (0, 10), x1: Any = (0, 1)
) -> Policy:
    features = (Feature("x0", "m", *x0), Feature("x1", "", *x1))
    return Policy("tree", features, (Action("a", "N", -2, 2),), nodes, squash)  # type: ignore[arg-type]


def ask(tree: Policy, text: str) -> Answer:
    """Check a property; a refutation must replay."""
    answer = check(tree, Property(text))
    if isinstance(answer, Refuted):
        observation = [value for _, value in answer.observation]
        acted = tree.act(observation).tolist()
        assert [value for _, value in answer.action] == acted
        assert answer.path == tree.path(observation)
        for value, feature in zip(observation, tree.features, strict=True):
            assert feature.low <= value <= feature.high
        named = dict(zip((action.name for action in tree.actions), acted, strict=True))
        assert not Property(text).holds({**dict(answer.observation), **named})
    return answer


def word(tree: Policy, text: str) -> str:
    return ask(tree, text).word


# -- one leaf, one split ------------------------------------------------------------------------


def test_margins_are_exact() -> None:
    tree = policy(rule(0.5, x0=0.25))
    answer = ask(tree, "a <= 4")
    assert isinstance(answer, Proved)
    assert answer.margin == 1.0
    assert ask(tree, "a <= 3").margin == 0.0  # type: ignore[union-attr]
    assert word(tree, "a < 3") == "refuted"
    answer = ask(tree, "a <= 2")
    assert isinstance(answer, Refuted)
    assert answer.excess == 1.0
    assert dict(answer.observation)["x0"] == 10.0


def test_a_tie_goes_below() -> None:
    tree = policy(Split(1, 0.5, 1, 2), rule(-1.0), rule(1.0))
    assert word(tree, "when x1 <= 0.5 then a = -1") == "proved"
    assert word(tree, "when x1 > 0.5 then a = 1") == "proved"
    assert word(tree, "when x1 >= 0.5 then a = 1") == "refuted"
    assert word(tree, "when x1 = 1 then a > 0") == "proved"  # contact flags
    assert word(tree, "when x1 = 0 then a > 0") == "refuted"
    assert word(tree, "when x1 != 0 then a > 0") == "refuted"


def test_an_open_end_is_not_reached() -> None:
    tree = policy(Split(0, 1.0, 1, 2), rule(5.0), rule(x0=1.0))
    assert word(tree, "when x0 > 1 then a > 1") == "proved"  # the next float is above 1
    shifted = policy(Split(0, 1.0, 1, 2), rule(5.0), rule(2.0, x0=1.0))
    # In real arithmetic x0 + 2 > 3 holds; float64 rounds the next float + 2 to 3, and act says 3.
    answer = ask(shifted, "when x0 > 1 then a > 3")
    assert isinstance(answer, Refuted)
    assert answer.excess == 0.0


def test_dead_leaves_do_not_count() -> None:
    tree = policy(Split(0, 20.0, 1, 2), rule(0.0), rule(99.0))
    assert word(tree, "a < 1") == "proved"


def test_a_premise_that_nothing_satisfies() -> None:
    tree = policy(rule(1.0))
    answer = ask(tree, "when x0 > 10 then a > 5")
    assert isinstance(answer, Vacuous)
    assert answer.as_text().startswith("vacuous  when x0 > 10 then a > 5")
    assert answer.as_json()["answer"] == "vacuous"
    assert word(tree, "when x0 - x1 > 10 then a > 5") == "vacuous"
    assert word(tree, "when a > 3 then x0 > 5") == "vacuous"
    assert word(tree, "when x0 >= 10 then a >= 1") == "proved"
    assert word(tree, "when x0 - x1 >= 10 then a >= 1") == "proved"


def test_the_box_of_a_proof_has_an_origin() -> None:
    answer = ask(policy(rule(x0=1.0)), "a <= 10")
    assert isinstance(answer, Proved)
    assert answer.as_text().endswith("for all x0 from 0 to 10 m (space)")
    assert answer.as_json()["box"] == [
        {"feature": "x0", "unit": "m", "low": 0.0, "high": 10.0, "origin": "space"}
    ]


def test_conclusions_on_features_only() -> None:
    assert word(policy(rule()), "x0 <= 10") == "proved"
    assert word(policy(rule()), "x0 < 10") == "refuted"
    assert word(policy(rule()), "x0 + x1 <= 11") == "proved"
    assert word(policy(rule()), "x0 + x1 < 11") == "refuted"


# -- squashes and infinite bounds ---------------------------------------------------------------


def test_actions_never_leave_their_limits() -> None:
    for squash in ("tanh", "clip"):
        tree = policy(rule(0.1, x0=3.0), squash=squash)
        answer = ask(tree, "abs(a) <= 2")
        assert isinstance(answer, Proved)
        assert answer.margin == 0.0
        assert word(tree, "a < 2") == "refuted"  # float64 tanh reaches 1
        assert word(tree, "when x0 - x1 > 1 then a <= 2") == "proved"
        assert word(tree, "when x0 - x1 > 1 then a < 2") == "refuted"


def test_tanh_is_undecided_within_its_rounding() -> None:
    tree = policy(rule(0.3, x0=0.01), squash="tanh")
    top = float(tree.act([10, 0])[0])
    answer = ask(tree, f"a <= {top!r}")
    assert isinstance(answer, Unknown)
    assert "too near to the limit" in answer.why
    assert word(tree, f"a <= {top + 1e-14!r}") == "proved"
    assert word(tree, f"a < {top!r}") == "refuted"
    assert word(tree, f"when x0 + x1 > 0 then a <= {top + 1e-14!r}") == "proved"
    assert word(tree, f"when x0 + x1 > 0 then a <= {top - 1e-9!r}") == "refuted"


def test_infinite_bounds() -> None:
    free = policy(rule(x0=1.0), x0=INFINITE)
    assert word(free, "a < 1e200") == "refuted"
    assert word(free, "when x0 < 5 then a < 6") == "proved"
    clipped = policy(rule(x0=1.0), squash="clip", x0=INFINITE)
    assert word(clipped, "a <= 2") == "proved"
    assert word(clipped, "a < 2") == "refuted"
    assert word(policy(rule(x0=1e-3), squash="tanh", x0=INFINITE), "a < 1.9") == "refuted"
    pair = policy(rule(x0=1.0, x1=-1.0), x0=INFINITE, x1=INFINITE)
    assert word(pair, "a < 3") == "refuted"
    answer = ask(pair, "when x0 - x1 < 1 then a <= 2")  # true for real numbers
    assert isinstance(answer, Unknown)
    assert "without bounds" in answer.why
    assert word(pair, "when x0 - x1 < 1 then a <= 0.5") == "refuted"
    assert word(pair, "when x0 - x1 < 1 and x0 - x1 > 1 then a <= 0") == "vacuous"


def test_overflow_is_no_counterexample() -> None:
    tree = policy(rule(x0=1e300), x0=(-1e10, 1e10))
    answer = ask(tree, "a <= 1e308")  # far above 1e8 the rule overflows, and act() refuses
    assert isinstance(answer, Refuted)
    assert dict(answer.observation)["x0"] == pytest.approx(1e8)
    assert word(tree, "a <= 1.7976931348623157e308") == "proved"
    assert word(policy(rule(1e308, x0=1e308), x0=(1, 2)), "a < 0") == "proved"  # it never acts
    free = policy(rule(x0=1.0), x0=INFINITE)
    assert (
        word(free, "when x0 * 1e-300 > 1e300 then a < 0") == "vacuous"
    )  # no finite x0 is so large
    endless = replace(free, actions=(Action("a", "", -math.inf, math.inf),), squash="clip")
    assert word(endless, "when x0 - x1 = 0 and x0 <= 5 and x0 >= -5 then a <= 6") == "proved"


@pytest.mark.parametrize("seed", range(11))
def test_extreme_numbers_are_answered_too(seed: int) -> None:
    """What is refuted replays; what is proved holds wherever we look."""
    rng = np.random.default_rng(seed)
    numbers = ["0", "1e-320", "1e-300", "0.5", "3", "1e16", "1e155", "1.7e308"]
    tree = random_policy(seed, features=2, actions=2, leaves=4, bounded=bool(seed % 3))

    def side() -> str:
        names = rng.choice(["x0", "x1", "a0", "a1"], size=rng.integers(1, 4))
        return " + ".join(f"{rng.choice(numbers)} * {name}" for name in names)

    bounds = [(max(feature.low, -50.0), min(feature.high, 50.0)) for feature in tree.features]
    seen = rng.uniform(*np.array(bounds).T, (200, 2))
    acted = tree.act_batch(seen)
    for _ in range(5):
        premise = f"{side()} < {rng.choice(numbers)}"
        text = f"when {premise} then {side()} <= {rng.choice(numbers)}"
        if ask(tree, text).word in ("proved", "vacuous"):
            for row in np.hstack((seen, acted)):
                assert Property(text).holds(dict(zip(("x0", "x1", "a0", "a1"), row, strict=True)))


# -- several features, several actions ----------------------------------------------------------


def test_linear_premises() -> None:
    tree = policy(rule(x0=1.0, x1=-1.0), x0=(0, 1))
    answer = ask(tree, "when x0 - x1 < 0.25 then a <= 0.5")
    assert isinstance(answer, Proved)
    assert answer.margin == pytest.approx(0.25, abs=1e-12)
    assert word(tree, "when x0 - x1 < 0.25 then a <= 0.2") == "refuted"
    assert word(tree, "when x0 - x1 = 0.25 then a > 0.2 and a < 0.3") == "proved"
    assert word(tree, "when x0 - x1 = 0.25 then a != 0.25") in ("refuted", "unknown")
    assert word(tree, "a = x0 - x1") in ("proved", "unknown")  # equal but for rounding


def two_actions(squash: str) -> Policy:
    leaf = Leaf((Controller(((0, 1.0),)), Controller(((0, -1.0),), 0.5)))
    actions = (Action("a", "N", -2, 2), Action("b", "N", -2, 2))
    return Policy("two", (Feature("x0", "", -1, 1),), actions, (leaf,), squash)  # type: ignore[arg-type]


@pytest.mark.parametrize("squash", ["none", "clip", "tanh"])
def test_several_actions(squash: str) -> None:
    tree = two_actions(squash)
    assert word(tree, "a + b <= 1.5") == "proved"
    assert word(tree, "a + b <= 0.3") == "refuted"
    assert word(tree, "not (a > 0.6 and b > 0.6)") == "proved"
    assert word(tree, "not (a > 0.1 and b > 0.1)") == "refuted"
    assert word(tree, "when a > 0.9 then b < 0.4") == "proved"
    assert word(tree, "a - 2 * x0 <= 3") == "proved"
    assert word(tree, "a - 2 * x0 < 0") == "refuted"


def test_a_sum_of_tanh_is_decided_to_fine_margins() -> None:
    tree = two_actions("tanh")
    x = np.linspace(-1, 1, 200_001)[:, None]
    largest = float(tree.act_batch(x).sum(axis=1).max())
    assert word(tree, f"a + b <= {largest + 1e-4!r}") == "proved"
    assert word(tree, f"a + b <= {largest - 1e-4!r}") == "refuted"


# -- the independent judge ----------------------------------------------------------------------


def agree_with_z3(seeds: range) -> None:
    words = []
    for seed in seeds:
        tree = replace(random_policy(seed), squash=("clip", "none")[seed % 2])
        asked = random_question(tree, np.random.default_rng(seed))
        answer = ask(tree, asked.text)
        holds = answer.word in ("proved", "vacuous")
        assert holds == z3_proves(tree, asked.formula), (seed, asked.text)
        words.append(answer.word)
    assert {"proved", "refuted", "vacuous"} <= set(words)


def test_z3_gives_the_same_answers() -> None:
    agree_with_z3(range(10_000, 10_150))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_z3_gives_the_same_answers_on_2000_trees() -> None:
    agree_with_z3(range(2000))


# -- samples ------------------------------------------------------------------------------------


def violated(condition: Condition, values: dict[str, Any]) -> Any:
    """Return where a condition holds for columns of samples, in floating point."""
    if isinstance(condition, Comparison):
        total = float(condition.expression.constant)
        for name, weight in condition.expression.weights:
            total = total + float(weight) * values[name]
        return total < 0 if condition.strict else total <= 0
    parts = [violated(part, values) for part in condition.parts]
    combine = np.logical_and if isinstance(condition, AllOf) else np.logical_or
    result = parts[0]
    for part in parts[1:]:
        result = combine(result, part)
    return result


def samples(tree: Policy, asked: Property, rng: np.random.Generator, rows: int) -> Any:
    """Return observations at thresholds, at corners and at the numbers of the property."""
    table = observations_around(tree, rng, rows)
    low = np.array([feature.low for feature in tree.features])
    high = np.array([feature.high for feature in tree.features])
    corner = np.where(rng.random(table.shape) < 0.5, low, high)
    table = np.where(rng.random(table.shape) < 0.3, corner, table)
    numbers = _numbers(asked.violation)
    if numbers:
        edge = rng.choice(numbers, size=table.shape)
        edge = np.where(rng.random(table.shape) < 0.5, edge, np.nextafter(edge, high))
        table = np.where(rng.random(table.shape) < 0.15, edge, table)
    return np.clip(table, low, high)


def _numbers(condition: Condition) -> list[float]:
    if isinstance(condition, Comparison):
        weights = dict(condition.expression.weights)
        return [float(-condition.expression.constant / weight) for weight in weights.values()]
    return [number for part in condition.parts for number in _numbers(part)]


def contradict_no_proof(seeds: range, rows: int) -> int:
    """Sample where something was proved; return the number of samples."""
    count = 0
    for seed in seeds:
        tree, rng = random_policy(seed), np.random.default_rng(seed)
        asked = Property(random_question(tree, rng).text)
        answer = ask(tree, asked.text)
        if not isinstance(answer, Proved):
            continue
        table = samples(tree, asked, rng, rows)
        acted = tree.act_batch(table)
        values = {f.name: table[:, i] for i, f in enumerate(tree.features)}
        values |= {a.name: acted[:, i] for i, a in enumerate(tree.actions)}
        suspects = np.flatnonzero(np.broadcast_to(violated(asked.violation, values), (rows,)))
        for row in suspects:  # in floating point; exactly:
            assert asked.holds({name: float(column[row]) for name, column in values.items()}), seed
        count += rows
    return count


def test_no_sample_contradicts_a_proof() -> None:
    assert contradict_no_proof(range(20_000, 20_200), rows=2_000) > 50_000


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_ten_million_samples_contradict_no_proof() -> None:
    assert contradict_no_proof(range(2_000), rows=25_000) >= 10**7


def test_numbers_are_read_as_float64() -> None:
    tree = policy(Split(0, 0.1, 1, 2), rule(-1.0), rule(1.0))
    assert word(tree, "when x0 > 0.1 then a > 0") == "proved"
    assert word(tree, "when x0 <= 0.1 then a < 0") == "proved"
    assert Fraction(0.1) != Fraction(1, 10)
