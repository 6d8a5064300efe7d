"""A property in physical units is the raw one: the same verdict, margin and counterexample."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from icct.cli.main import main
from icct.errors import PropertyError
from icct.policy import Policy
from icct.policy.quantity import exact_scale, physical_text
from icct.verify import Property, Proved, Refuted, check
from icct.zoo import zoo_policy
from tests.random_policies import random_policy

RING = zoo_policy("ring-cruiser")
NAMES = ("m", "m/s", "rad/s^2", "N", "degrees")


def with_scales(policy: Policy, rng: np.random.Generator) -> Policy:
    """Return the policy with a random scale in each unit."""

    def unit() -> str:
        digits = rng.integers(1, 6)
        return f"x {rng.uniform(0.01, 500):.{digits}f} {rng.choice(NAMES)}"

    return replace(
        policy,
        features=tuple(replace(feature, unit=unit()) for feature in policy.features),
        actions=tuple(replace(action, unit=unit()) for action in policy.actions),
    )


def asked_twice(policy: Policy, rng: np.random.Generator) -> tuple[str, str]:
    """Return a random property with raw numbers, and the same with physical ones."""

    def comparison(part) -> tuple[str, str]:
        relation = rng.choice(["<", "<=", ">", ">="])
        raw = float(rng.uniform(-3, 3)) if rng.random() < 0.7 else float(rng.integers(-3, 4))
        scale, unit = exact_scale(part.unit)
        written = f"{physical_text(abs(raw), scale)} {unit}"
        sign = "-" if raw < 0 else ""
        name = f"abs({part.name})" if rng.random() < 0.2 else part.name
        return f"{name} {relation} {raw!r}", f"{name} {relation} {sign}{written}"

    premise = comparison(policy.features[rng.integers(len(policy.features))])
    conclusion = comparison(policy.actions[rng.integers(len(policy.actions))])
    if rng.random() < 0.3:
        return conclusion
    raw, physical = (f"when {premise[i]} then {conclusion[i]}" for i in (0, 1))
    return raw, physical


def test_the_same_answer_on_500_random_policies_with_random_scales() -> None:
    words: dict[str, int] = {}
    for seed in range(500):
        rng = np.random.default_rng(seed)
        policy = with_scales(random_policy(seed), rng)
        raw, physical = asked_twice(policy, rng)
        expected, found = check(policy, Property(raw)), check(policy, Property(physical))
        assert found.raw is not None
        assert found.raw.text == raw
        assert found.word == expected.word
        words[found.word] = words.get(found.word, 0) + 1
        if isinstance(found, Proved) and isinstance(expected, Proved):
            assert found.margin == expected.margin
        if isinstance(found, Refuted) and isinstance(expected, Refuted):
            assert found.observation == expected.observation
            assert found.excess == expected.excess
    assert min(words.get(word, 0) for word in ("proved", "refuted", "vacuous")) > 10, words


def test_differences_of_features_with_one_scale() -> None:
    asked = Property("when speed_ego - speed_human_0 > 1.5 m/s then acceleration <= 2 m/s^2")
    assert asked.raw(RING).text == "when speed_ego - speed_human_0 > 0.05 then acceleration <= 2.0"


def test_scales_that_differ_are_multiplied_in() -> None:
    lander = zoo_policy("lunar-lander/icct-2-feature")
    asked = Property("when 2 * x + y < 3 m then main_engine <= 1")
    raw = asked.raw(lander)
    assert raw.text == "when 2 * (10 * x) + (6.67 * y) < 3 then main_engine <= 1"
    for x in np.linspace(-0.5, 0.5, 21):
        for y in np.linspace(-0.5, 0.5, 21):
            exact = 20 * Fraction(x) + Fraction("6.67") * Fraction(y)
            if abs(exact - 3) > 1e-9:
                holds = raw.holds({"x": x, "y": y, "main_engine": 2.0})
                assert holds == (exact >= 3)


def test_units_are_checked_against_every_name() -> None:
    with pytest.raises(PropertyError, match="compared with position_ego, which is in m"):
        check(RING, Property("speed_ego - position_ego > 3 m/s"))
    with pytest.raises(PropertyError, match="has units"):
        Property("speed_ego > 3 m/s").holds({"speed_ego": 1.0})


def test_the_command_states_the_raw_property(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["verify", "zoo:ring-cruiser", "when speed_ego > 3.9 m/s then acceleration<=0"]) == 0
    )
    printed = capsys.readouterr()
    assert printed.out.splitlines()[1:] == [
        "         raw: when speed_ego > 0.13 then acceleration<=0",
        "         margin 1.00 m/s^2",
        "         for all speed_ego from 0 to 30 m/s (physical)",
    ]
    assert printed.err == ""


def test_a_slip_of_units_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "zoo:ring-cruiser", "when speed_ego > 3.9 then acceleration <= 0"]) == 4
    printed = capsys.readouterr()
    assert "Did you mean 3.9 m/s?" in printed.out
    assert "Did you mean 3.9 m/s?" in printed.err
    assert main(["verify", "zoo:pole-balancer", "force <= 50"]) == 0
    assert "force is compared with 50, beyond its bounds. Did you mean 50 N?" in (
        capsys.readouterr().err
    )
