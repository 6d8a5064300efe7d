"""Plants that are broken, by hand or at random: one clear error or an answer, never a crash."""

import contextlib
from fractions import Fraction
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from icct.cli.main import main
from icct.errors import PlantError
from icct.plant import shipped_plants
from icct.plant.falsify import Effort, falsify
from icct.plant.file import plant_from_toml
from icct.plant.integrate import LostError, advance, float_motion
from icct.plant.parse import ExpressionError, parse_expression
from tests.plant.models import ask, linear, tank, tank_text

PIECES = [
    *("", " ", "\n", '"', "[", "]", "(", ")", "=", ".", ",", "-", "^", "/", "*", "0", "9" * 39),
    *("1e400", "nan", "inf", "1e-400", "theta", "pi", "sin(", "abs", "\x00", "é", "time", "[let]"),
]  # fmt: skip
EFFORT = Effort(samples=4, generations=2, size=8)


def test_2000_mutated_plants_are_read_or_refused() -> None:
    generator = np.random.default_rng(0)
    texts = [
        (resources.files("icct.plant") / "shipped" / f"{name}.toml").read_text()
        for name in shipped_plants()
    ]
    read = 0
    for number in range(2000):
        text = texts[number % len(texts)]
        for _ in range(generator.integers(1, 4)):
            at = int(generator.integers(len(text)))
            cut = int(generator.integers(0, 4))
            piece = PIECES[generator.integers(len(PIECES))]
            text = text[:at] + piece + text[at + cut :]
        try:
            plant = plant_from_toml(text.encode())
        except PlantError:
            continue
        read += 1
        if number % 10:
            continue
        held = {action.name: action.high for action in plant.actions}
        held |= {one.name: float(one.low) for one in plant.disturbances}
        start = [float(low) for low, _ in plant.start]
        try:
            advance(float_motion(plant), start, held, min(float(plant.period), 1.0))
        except LostError:
            continue
    assert 200 < read < 1800  # else they are too broken, or not enough


def test_2000_mutated_expressions_are_read_or_refused() -> None:
    generator = np.random.default_rng(1)
    words = [*"+-*/^(),.0123456789", "x", "y", "pi", "sin", "min", "e", "E", " ", "**", "1e9", "_"]
    for _ in range(2000):
        text = "".join(generator.choice(words, generator.integers(1, 30)))
        with contextlib.suppress(ExpressionError):
            parse_expression(text)


@pytest.mark.parametrize(
    ("rate", "start"),
    [
        ("1/(level - level)", "[0.5, 1]"),  # divides by zero everywhere
        ("1/(level - 0.75)", "[0.5, 1]"),  # and here in the middle of the starts
        ("40*level^3", "[0.5, 1]"),  # blows up in finite time
        ("inflow", "1"),  # a box of width 0
        ("inflow", "[-1e300, 1e300]"),  # one that is nearly infinite
        ("exp(exp(exp(level/1)))", "[0.5, 3]"),
        ("sqrt(-1 - level^2/1)*1", "[0.5, 1]"),
    ],
)
def test_the_falsifier_answers_on_any_plant(rate: str, start: str) -> None:
    text = tank_text(f"1*({rate})").replace("start = [0.5, 1]", f"start = {start}")
    plant = plant_from_toml(text.encode())
    found = falsify(
        plant, linear(plant, {"level": -1.0}), ask("always", "level < 5", 1), effort=EFFORT
    )
    assert found.trajectories > 0
    assert found.left_model or found.refuted or found.worst.margin > 0


def test_a_box_given_by_hand_may_be_a_point() -> None:
    plant = tank()
    box = [(Fraction(1), Fraction(1))]
    found = falsify(plant, linear(plant, {}), ask("always", "level <= 1", 1), box, EFFORT)
    assert not found.refuted
    assert found.worst.start == (1.0,)


@pytest.mark.parametrize("verb", ["tasks {}", "evaluate driver:random --task {}", "train {}"])
def test_the_command_line_says_what_is_wrong(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tank.toml"
    file.write_text(tank_text("inflow + speed"))
    assert main(verb.format(file).split()) == 2
    told = capsys.readouterr().err
    assert f"{file}: line " in told
    assert "'speed' is not known here: expected one of inflow, level." in told
    assert "Traceback" not in told
