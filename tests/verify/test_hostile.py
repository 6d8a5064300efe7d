"""Numbers from 1e-320 to 1e308: what is proved holds, what is refuted replays."""

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from icct.errors import ObservationError
from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.parts import Squash
from icct.policy.rounding import tanh_slack
from icct.verify import Property, Proved, Refuted, check, measure, robustness
from icct.verify.jump import Jump
from tests.hostile_policies import hostile_number, hostile_policy, next_float, observations
from tests.verify.hostile import answers

HUGE = (1e308, 1.5e308)


def policy(*rules: Controller, x: tuple[float, float], squash: Squash = "none") -> Policy:
    """Return one leaf over x and y, which have the same bounds."""
    actions = tuple(Action(name, "", -2, 2) for name in "abc"[: len(rules)])
    return Policy(
        "hard", (Feature("x", "", *x), Feature("y", "", *x)), actions, (Leaf(rules),), squash
    )


def word(tree: Policy, text: str) -> str:
    """Return the answer in one word; a refutation must replay."""
    answer = check(tree, Property(text))
    if isinstance(answer, Refuted):
        values = dict(answer.observation)
        acted = tree.act(list(values.values())).tolist()
        named = dict(zip((action.name for action in tree.actions), acted, strict=True))
        assert not Property(text).holds({**values, **named})
    return answer.word


# -- random ones -----------------------------------------------------------------------------------


def test_judges_find_nothing_wrong() -> None:
    words, wrong = answers(range(10_000, 10_250), rows=100)
    assert wrong == []
    assert {"proved", "refuted", "vacuous"} <= set(words)
    assert words["unknown"] <= 0.03 * words.total()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_judges_find_nothing_wrong_with_6500_policies() -> None:
    words, wrong = answers(range(6_500), rows=300)
    assert wrong == []
    assert words["unknown"] <= 0.02 * words.total()


def measures_hold(seeds: range) -> Counter[str]:
    """Check ranges and jumps against samples; return how often each was."""
    checked: Counter[str] = Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        squash = ("clip", "none", "tanh")[seed % 3]
        tree = replace(hostile_policy(seed), squash=squash)
        measures = measure(tree)
        assert measures.as_text()
        json.dumps(measures.as_json(), allow_nan=False)
        ranges = {(leaf.leaf, leaf.action): leaf for leaf in measures.leaves}
        for observation in observations(tree, rng, 10):
            try:
                acted = tree.act(observation).tolist()
            except ObservationError:
                continue
            for action, value in zip(tree.actions, acted, strict=True):
                leaf = ranges[tree.leaf_of(observation), action.name]
                slack = tanh_slack(action) if tree.squash == "tanh" else 0.0
                assert leaf.low - slack <= value <= leaf.high + slack, seed
                checked["ranges"] += 1
            checked += jumps_hold(tree, measures.jumps, observation)
    return checked


def jumps_hold(
    tree: Policy, jumps: tuple[Jump, ...], observation: tuple[float, ...]
) -> Counter[str]:
    """Step over every threshold from where an observation is."""
    checked: Counter[str] = Counter()
    names = [action.name for action in tree.actions]
    for jump in jumps:
        split = tree.nodes[jump.split]
        assert isinstance(split, Split)
        lower, upper = list(observation), list(observation)
        lower[split.feature], upper[split.feature] = split.threshold, next_float(split.threshold, 1)
        if jump.split not in tree.path(lower) or jump.split not in tree.path(upper):
            continue
        try:
            ends = [tree.act(end).tolist()[names.index(jump.action)] for end in (lower, upper)]
        except ObservationError:
            continue
        step = Fraction(ends[1]) - Fraction(ends[0])
        assert -step <= jump.fall
        assert step <= jump.rise
        checked["jumps"] += 1
    return checked


@pytest.mark.parametrize("seed", range(30))
def test_no_sample_leaves_the_room_around_an_observation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = replace(hostile_policy(seed), squash=("clip", "none", "tanh")[seed % 3])
    table = list(observations(tree, rng, 50))
    try:
        acted = tree.act(table[0]).tolist()
    except ObservationError:
        return
    around = robustness(tree, table[0], abs(hostile_number(rng)))
    json.dumps(around.as_json(), allow_nan=False)
    for other in table:
        if all(
            abs(Fraction(x) - Fraction(y)) <= around.radius
            for x, y in zip(table[0], other, strict=True)
        ):
            moved = (
                abs(Fraction(a) - Fraction(b))
                for a, b in zip(acted, tree.act(other).tolist(), strict=True)
            )
            assert max(moved) <= around.delta


def test_measures_hold() -> None:
    checked = measures_hold(range(200))
    assert min(checked["ranges"], checked["jumps"]) > 500


# -- by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("squash", ["none", "clip"])
def test_rounding_counts_where_magnitudes_overflow(squash: Squash) -> None:
    cancelling = policy(Controller(((0, 1.0), (1, -1.0)), 1.0), x=HUGE, squash=squash)
    assert cancelling.act([1.2e308, 1.2e308]).tolist() == [0.0]  # 1 + 1.2e308 is 1.2e308
    assert word(cancelling, "when x = y then a >= 0.5") == "refuted"
    assert word(cancelling, "when x - y >= 0 then a >= 0.5") == "refuted"
    assert word(cancelling, "when x - y <= 1e300 then a <= 1e305") == "proved"


def test_rounding_counts_where_products_underflow() -> None:
    tiny = policy(Controller(((0, 1e-200), (1, -1e-200)), 0.0), x=(1e-130, 2e-130))
    assert tiny.act([2e-130, 1e-130]).tolist() == [0.0]  # and 1e-330 is less than any float
    assert word(tiny, "when x - y >= 5e-131 then a > 0") == "refuted"


def test_overflow_puts_a_clipped_action_at_its_limit() -> None:
    tree = policy(Controller(((0, 2.0), (1, -1.0))), x=(-1e308, 1e308), squash="clip")
    assert tree.act([1e308, 1e308]).tolist() == [2.0]
    assert word(tree, "when x - y = 0 then a < 2") == "refuted"  # 2x overflows, x does not
    assert word(tree, "when 2 * x - y = 0 then a < 2") != "proved"


@pytest.mark.parametrize("squash", ["none", "clip", "tanh"])
@pytest.mark.parametrize("bounds", [HUGE, (-1e308, 1e308), (-math.inf, math.inf)])
def test_two_actions_that_overflow_are_compared(
    squash: Squash, bounds: tuple[float, float]
) -> None:
    rules = Controller(((0, 2.0), (1, -2.0))), Controller(((0, 1.0),))
    tree = policy(*rules, x=bounds, squash=squash)
    never_acts = bounds == HUGE  # 2x - 2y is inf - inf there
    assert word(tree, "a <= b + 3") == ("proved" if never_acts else "refuted")


def test_an_action_that_has_to_hit_one_number() -> None:
    sloped = policy(Controller(((0, 0.3),), 0.1), x=(0, 10))
    assert word(sloped, "a != 1.3") == "refuted"
    steep = policy(Controller(((0, 3.0),), 0.0), x=(1, 2))
    assert word(steep, f"a != {math.nextafter(3.0, 4.0)!r}") == "proved"  # 3x steps over it
    both = policy(Controller(((0, 3.0), (1, -2.0)), 0.1), x=(-1, 1))
    assert word(both, "a != 0.021189411287265078") == "refuted"
    assert word(both, "not (0.5 <= a <= 0.5000000000000002)") == "refuted"
    coarse = policy(Controller(((0, 1.0), (1, -1.0)), 1.0), x=(1e17, 2e17))
    assert word(coarse, "a != 3") == "proved"  # floats are 16 apart there
    answer = check(coarse, Property("a != 3"))
    assert isinstance(answer, Proved)
    assert answer.margin == 0.0


def test_one_observation_is_decided_exactly() -> None:
    pinned = policy(Controller(((0, 0.3),), 0.1), x=(0, 10), squash="tanh")
    there = float(pinned.act([1.7, 0.0])[0])
    assert word(pinned, f"when x = 1.7 then a = {there!r}") == "proved"
    assert word(pinned, f"when x = 1.7 then a < {there!r}") == "refuted"


def test_measure_with_weights_that_vanish_or_overflow() -> None:
    split = Split(0, 0.0, 1, 2)
    for weight in (5e-324, 1e308):
        rules = Controller(((1, weight),)), Controller(((1, 1.0),), 0.5)
        for squash in ("none", "clip", "tanh"):
            tree = policy(rules[0], x=(-1e308, 1e308), squash=squash)
            tree = replace(tree, nodes=(split, *(Leaf((rule,)) for rule in rules)))
            json.dumps(measure(tree).as_json(), allow_nan=False)
    heavy = policy(Controller(((0, 1e308), (1, 1e308))), x=(-1, 1), squash="none")
    assert measure(heavy).leaves[0].lipschitz == math.inf
    assert measure(heavy).as_json()["leaves"][0]["lipschitz"] is None
    assert "inf" in measure(heavy).as_text()
