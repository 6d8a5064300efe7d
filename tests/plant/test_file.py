"""Plant files: what is read, and what is refused in one sentence that says where."""

from fractions import Fraction
from pathlib import Path

import pytest

from icct.errors import PlantError
from icct.plant import Plant, read_plant, shipped_plants
from icct.plant.expression import Name
from icct.plant.file import plant_from_toml
from icct.plant.units import check_units
from icct.policy import Action, Feature
from icct.zoo import zoo_policy
from tests.plant.models import INFLOW, linear, tank, tank_text

SHIPPED = (
    *("acc", "car-following", "cart-pole", "lane-keeping", "single-pendulum"),
    *("tora", "unicycle"),
)
HALF = """
[let]
half = "level/2"

[observations.half]
unit = "m"
low = 0
high = 9
"""
QUESTION = '[questions.q]\nwhy = "x"\n'


def test_a_plant_is_what_its_file_says() -> None:
    plant = tank(more=f'{HALF}value = "half"\n')
    assert plant.period == Fraction(1, 10)  # and not the float nearest to it
    assert plant.start == ((Fraction(1, 2), Fraction(1)),)
    assert plant.actions == (INFLOW,)
    assert plant.features[0] == Feature("level", "m", 0, 3, "physical")
    assert plant.observations[0].value == Name("level")
    assert plant == tank(more=f'{HALF}value = "level/2"\n')


def test_the_shipped_plants_are_whole() -> None:
    assert shipped_plants() == SHIPPED
    for name in SHIPPED:
        plant = read_plant(f"plant:{name}")
        assert plant.name == name
        assert plant.episode is not None
        assert plant.questions
        assert plant.leaves_out


def refused(text: str) -> str:
    with pytest.raises(PlantError) as caught:
        plant_from_toml(text.encode())
    return str(caught.value)


def test_an_error_in_an_expression_has_its_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "tank.toml"
    file.write_text(tank_text("inflow - 0.5*levle"))
    with pytest.raises(PlantError) as caught:
        read_plant(file)
    text = str(caught.value)
    line = next(k for k, t in enumerate(file.read_text().splitlines(), 1) if "levle" in t)
    assert text.startswith(f"{file}: line {line}, column 22: [states.level]: rate: 'levle' is not")
    assert "Did you mean 'level'?" in text
    mark = text.splitlines()
    assert mark[1][mark[2].index("^") :].startswith("levle")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "format and version are None and None"),
        ("format = ", "not valid TOML"),
        (tank_text("inflow -"), "found the end, expected a number, a name or '('"),
        (tank_text("time"), "'time' is not known here"),
        (tank_text("2^level"), "expected a whole power"),
        (tank_text().replace("version = 1", "version = 2"), "expected 'icct-plant' and 1"),
        (tank_text().replace("[states.level]", "[states.pi]"), "a name is letters"),
        (tank_text().replace("[states.level]", "[states.inflow]"), "stands for two things"),
        (tank_text().replace('unit = "m"\nrate', "rate"), "unit is None, expected text"),
        (tank_text(top=""), "period is None, expected a number"),
        (tank_text(top="period = 0"), "period is 0 s, expected more than 0"),
        (tank_text(top="period = -1"), "expected more than 0"),
        (tank_text(top="period = nan"), "period is NaN, expected a finite number"),
        (tank_text(top="period = 1e999999999"), "expected at most 40 digits and a size"),
        (tank_text(top="period = 1\nperoid = 2"), "Did you mean 'period'?"),
        (tank_text().replace("[0.5, 1]", "[1, 0.5]"), "low is 1 and high is 0.5"),
        (tank_text().replace("[0.5, 1]", "[0, inf]"), "start is Infinity, expected a finite"),
        (tank_text().replace("[0.5, 1]", "[0, 1, 2]"), "expected [low, high] or a number"),
        (tank_text().replace("[0.5, 1]", '"low"'), "start is 'low', expected a number"),
        (tank_text(top='period = 1\nguard = "levl >= 0"'), "guard: column 1: 'levl' is nothing"),
        (tank_text(top='period = 1\nguard = "inflow >= 0"'), "'inflow' is not a state"),
        (tank_text(more='[let]\na = "b"\nb = "level"\n'), "'b' is not known here"),
        (tank_text(more="[episode]\nhorizon = 1.5\nreward = 1\n"), "expected a number of periods"),
        (tank_text(more='[episode]\nhorizon = 5\nreward = "lvl"\n'), "'lvl' is not known here"),
        (tank_text(more=f"{QUESTION}time = 1"), "has 0 of always, never, reach"),
        (tank_text(more=f'{QUESTION}always = "level^2 < 1"\ntime = 1'), "found '^'"),
        (tank_text(more=f'{QUESTION}always = "level < 1"\ntime = 0'), "more than 0"),
        (tank_text(more=f'{HALF}value = "level/3"'), "'half' also names something else"),
        (
            tank_text(more=f'{HALF}value = "half"'.replace("level/2", "inflow/2")),
            "depends on 'inflow' through [let]",
        ),
    ],
)
def test_nonsense_is_refused(text: str, what: str) -> None:
    assert what in refused(text)


def test_an_expression_that_doubles_in_every_line_is_refused() -> None:
    lines = ['a0 = "level*level"', *(f'a{k} = "a{k - 1}*a{k - 1}"' for k in range(1, 40))]
    assert "parts in" in refused(tank_text(more="[let]\n" + "\n".join(lines) + "\n"))


@pytest.mark.parametrize(
    ("rate", "what"),
    [
        ("inflow + level", "has m s^-1 + m"),
        ("level", "rate is in m, expected m s^-1: level is in m"),
        ("inflow*level", "is in m^2 s^-1, expected m s^-1"),
        ("sin(level)*inflow", "has sin(m), expected a plain number there"),
        ("inflow - min(level, inflow)", "has m + m s^-1"),
        ("sqrt(level)*inflow^2/level", "m^3/2 s^-2"),
    ],
)
def test_wrong_units_are_refused(rate: str, what: str) -> None:
    assert what in refused(tank_text(rate))


@pytest.mark.parametrize(
    "rate", ["inflow", "0.3*level", "inflow*sin(level/2)", "inflow/level*level"]
)
def test_units_that_go_together_are_not(rate: str) -> None:
    check_units(tank(rate))


def test_a_policy_must_fit() -> None:
    plant = tank()
    policy = linear(plant, {"level": -1.0})
    plant.check_fits(policy)

    def fails(plant: Plant, what: str) -> None:
        with pytest.raises(PlantError, match=what):
            plant.check_fits(policy)

    fails(read_plant("plant:acc"), "it has 1 features, but the plant 3: v_ego, gap, rel")
    text = tank_text()
    other = text.replace('unit = "m"', 'unit = "cm"').replace("m/s", "cm/s")
    fails(plant_from_toml(other.encode()), "its feature 'level' is in m, but the plant's is in cm")
    weaker = plant_from_toml(text.replace("high = 1\n", "high = 0.5\n").encode())
    fails(weaker, "'inflow' are -1 to 1, but the plant takes -1 to 0.5")
    assert Action("inflow", "m/s", -1, 1) == INFLOW


def test_the_inverted_pendulums_trees_fit_the_cart_pole() -> None:
    read_plant("plant:cart-pole").check_fits(zoo_policy("inverted-pendulum/icct-2-feature"))


def test_a_plant_that_does_not_exist_is_named() -> None:
    with pytest.raises(PlantError, match="Did you mean 'unicycle'"):
        read_plant("plant:unicicle")
    with pytest.raises(PlantError, match="cannot be read"):
        read_plant("nowhere.toml")
