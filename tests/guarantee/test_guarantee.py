"""Guarantees of small plants whose answers are known; what interrupts and parallel work change."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from icct.cli.main import main
from icct.errors import FileError, PlantError
from icct.guarantee import Answer, Asked, Proved, Refuted, Unknown, guarantee
from icct.guarantee.contain import outside
from icct.guarantee.prove import prove
from icct.plant import Plant, read_plant
from icct.plant.falsify import SURE, Effort, replay
from icct.plant.question import Kind
from icct.plant.simulate import simulate, within
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.file import write_policy
from icct.zoo import load_policy
from tests.plant.models import ask, linear, tank, tank_text

LEAK = '[disturbances.leak]\nunit = "m/s"\nlow = -0.1\nhigh = 0.1\n'
QUICK = Effort(samples=16, generations=2, size=8)


def answered(
    plant: Plant,
    policy: Policy,
    kind: Kind,
    condition: str,
    seconds: float,
    *,
    boxes: int = 64,
    **more: object,
) -> Answer:
    asked = Asked(ask(kind, condition, seconds), plant.start, **more)  # type: ignore[arg-type]
    return guarantee(plant, policy, asked, most_boxes=boxes, effort=QUICK)


# inflow 0.5: the level goes from 0.5 ... 1 towards 1, e-fold in 2 s
@pytest.mark.parametrize(
    ("kind", "condition", "expected"),
    [
        ("always", "level >= 0.4999", Proved),
        ("always", "level >= 0.5001", Refuted),
        ("always", "when time >= 1 then level >= 0.6966", Proved),  # 1 - exp(-1/2)/2 = 0.69673
        ("always", "when time >= 1 then level >= 0.6968", Refuted),
        ("never", "level > 1.0001", Proved),
        ("never", "level > 0.9 and level < 0.95", Refuted),
        ("reach", "level >= 0.888", Proved),  # 1 - exp(-3/2)/2 = 0.88843
        ("reach", "level >= 0.9", Refuted),
        ("always", "inflow <= 0.5001", Proved),
        ("never", "inflow > 0.4", Refuted),
        ("always", "level <= 1.01 m", Proved),
        ("always", "level <= 0.101 m", Refuted),
        ("always", "level <= 0.7 or level >= 0.6", Proved),  # after halving boxes
    ],
)
def test_questions_with_known_answers(kind: Kind, condition: str, expected: type) -> None:
    plant = tank()
    found = answered(plant, linear(plant, {}, 0.5), kind, condition, 3)
    assert isinstance(found, expected), found.as_text()
    if isinstance(found, Refuted):
        assert (
            replay(plant, linear(plant, {}, 0.5), found.asked.question, found.found.worst) < -SURE
        )


def test_disturbances_may_do_their_worst() -> None:
    """They add up to 0.1 per second: between 0.8 and 1.2 for ever, since 0.1/0.5 = 0.2."""
    plant = tank("inflow + leak - 0.5*level", more=LEAK)
    policy = linear(plant, {}, 0.5)
    assert isinstance(answered(plant, policy, "always", "level <= 1.21", 3), Proved)
    assert isinstance(answered(plant, policy, "always", "level <= 1.15", 3), Refuted)


def two_leaves(plant: Plant, below: float, above: float) -> Policy:
    nodes = (Split(0, 0.75, 1, 2), *(Leaf((Controller(bias=b),)) for b in (below, above)))
    return Policy("two", plant.features, plant.actions, nodes, squash="clip")


def test_the_tree_is_split_at_its_threshold() -> None:
    """Below 0.75 it fills, above it stays: what starts below ends within a period above."""
    plant = tank("1*inflow")
    policy = two_leaves(plant, 0.5, 0.0)
    found = answered(plant, policy, "always", "when time >= 0.6 then level >= 0.7499", 2)
    assert isinstance(found, Proved), found.as_text()
    assert set(found.search.tube.leaf.tolist()) >= {1, 2}
    assert isinstance(answered(plant, policy, "always", "level <= 1.0001", 2), Proved)
    wrong = two_leaves(plant, -0.5, 0.5)
    assert isinstance(answered(plant, wrong, "always", "abs(level - 0.75) <= 0.3", 2), Refuted)


def test_for_all_time_by_coming_back() -> None:
    plant = tank()
    policy = linear(plant, {"level": -1.0}, 1.1)  # to 0.733
    home = Fraction(7, 10), Fraction(4, 5)
    for more in ({}, {"home": (home,)}):
        found = answered(plant, policy, "always", "level <= 1.01", 3, forever=True, **more)
        assert isinstance(found, Proved), found.as_text()
    away = linear(plant, {}, 1.0)  # to 2
    found = answered(plant, away, "always", "level <= 2.1", 3, forever=True, boxes=8)
    assert isinstance(found, Unknown)
    assert "come back" in found.as_text()
    assert found.search.share == 0.0


def test_a_question_for_all_time_must_not_speak_of_time() -> None:
    plant = tank()
    with pytest.raises(PlantError, match="for all time must be `always` or `never`"):
        Asked(ask("reach", "level > 1", 1), plant.start, forever=True)


@pytest.mark.parametrize(
    ("rate", "word"),
    [
        ("inflow/(2*level - 1.5)", "undefined"),
        ("3*level^3", "without bound"),
    ],
)
def test_what_is_undefined_or_blows_up_is_unknown(rate: str, word: str) -> None:
    plant = tank(f"{rate} + 0*inflow")
    found = answered(plant, linear(plant, {}, 0.5), "always", "level <= 1000", 3, boxes=8)
    assert isinstance(found, Unknown)
    assert word in found.as_text()


def test_starts_without_width_and_starts_that_are_huge() -> None:
    plant = tank()
    policy = linear(plant, {}, 0.5)
    question = ask("always", "level >= 0.69", 1)
    point = Asked(question, ((Fraction(7, 10), Fraction(7, 10)),))
    assert isinstance(guarantee(plant, policy, point, effort=QUICK), Proved)
    huge = Asked(ask("never", "level < 0", 1), ((Fraction(0), Fraction(10) ** 30),))
    assert isinstance(guarantee(plant, policy, huge, most_boxes=4, effort=QUICK), Unknown)


def test_a_guard_that_may_be_left_is_unknown() -> None:
    plant = tank(top='period = 0.1\nguard = "level <= 0.9"')
    found = answered(plant, linear(plant, {}, 0.5), "always", "level <= 2", 1, boxes=8)
    assert isinstance(found, Unknown)
    assert "guard" in found.as_text()


# -- tubes --------------------------------------------------------------------------------------


def test_no_trajectory_leaves_the_tube_and_one_of_another_plant_does() -> None:
    plant, policy = read_plant("plant:single-pendulum"), load_policy("zoo:plant/single-pendulum")
    question = plant.questions[0]
    search = prove(plant, policy, Asked(question, plant.start), 8)
    assert not search.open
    parts = np.random.default_rng(0).uniform(size=(300, 2))
    parts[::2] = np.round(parts[::2])
    went = simulate(plant, policy, within(plant.start, parts), question.time)
    assert not outside(search, went.times, went.states).any()
    heavier = replace(policy, squash="clip")
    went = simulate(plant, heavier, within(plant.start, parts), question.time)
    assert outside(search, went.times, went.states).any()


def test_processes_and_interruptions_change_nothing(tmp_path: Path) -> None:
    plant = tank("1*inflow")
    policy = two_leaves(plant, 0.5, 0.0)
    condition = "(level <= 0.85 or level >= 0.75)"
    asked = Asked(ask("always", f"{condition} and level <= 1.01", 1), plant.start)
    alone = guarantee(plant, policy, asked, most_boxes=256, effort=QUICK)
    assert isinstance(alone, Proved)
    assert alone.search.tried > 1

    def stop(done: int, known: int) -> None:
        if done > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarantee(
            plant,
            policy,
            asked,
            most_boxes=256,
            workers=2,
            folder=tmp_path,
            effort=QUICK,
            progress=stop,
        )
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/wave-*.npz")}
    assert kept
    again = guarantee(
        plant, policy, asked, most_boxes=256, folder=tmp_path, workers=2, effort=QUICK
    )
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert isinstance(again, Proved)
    assert again.search.proved == alone.search.proved
    assert (again.search.tube.low == alone.search.tube.low).all()
    other = replace(asked, question=ask("always", "level <= 2", 2))
    with pytest.raises(FileError, match="another question"):
        guarantee(plant, policy, other, folder=tmp_path, effort=QUICK)


# -- the verb -----------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "tank.toml").write_text(tank_text())
    write_policy(linear(tank(), {}, 0.5), tmp_path / "policy.json")
    return str(tmp_path / "policy.json"), str(tmp_path / "tank.toml")


def test_the_verb(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    policy, plant = files
    words = ["guarantee", policy, "--plant", plant, "--workers", "1", "--time", "3"]
    assert main([*words, "--always", "level >= 0.59", "--from", "level=0.6..0.9"]) == 0
    assert capsys.readouterr().out.startswith("proved   always level >= 0.59, for 3 s\n")
    assert main([*words, "--always", "level >= 0.6", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)["answers"][0]
    assert answer["answer"] == "refuted"
    assert answer["start"] == {"level": 0.5}


def test_the_tube_is_drawn(files: tuple[str, str], tmp_path: Path) -> None:
    policy, plant = files
    picture = tmp_path / "tube.svg"
    words = ["--always", "level >= 0.4", "--time", "1", "--workers", "1"]
    assert main(["guarantee", policy, "--plant", plant, *words, "--figure", str(picture)]) == 0
    assert "level [m]" in picture.read_text() or "<svg" in picture.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--always", "levl > 0", "--time", "1"], "'levl' is nothing of plant tank"),
        (["--always", "level > 0"], "how long? Give --time"),
        ([], "nothing to ask"),
        (["--question", "x"], "no question 'x'"),
        (["--always", "level > 0", "--time", "1", "--from", "level=1..0"], "low end is above"),
        (["--always", "level > 0", "--time", "1", "--from", "level=inf"], "finite numbers"),
        (["--always", "level > 0", "--time", "1", "--from", "speed=1"], "'speed' is not a state"),
        (["--always", "level > 0", "--time", "1e9"], "periods of 0.1 s, expected at most"),
        (["--always", "level > 0", "--time", "0"], "expected more than 0"),
        (["--always", "level > 0", "--time", "1", "--boxes", "0"], "at least 1"),
    ],
)
def test_wrong_use_is_one_error(
    files: tuple[str, str], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["guarantee", files[0], "--plant", files[1], "--workers", "1", *words]) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") <= 4


def test_the_report_shows_answers_and_tubes(files: tuple[str, str], tmp_path: Path) -> None:
    policy, plant = files
    question = '[questions.{name}]\nalways = "level >= {bound}"\ntime = 1\nwhy = "Asked."\n'
    asked = [question.format(name="a", bound=0.4), question.format(name="b", bound=0.6)]
    Path(plant).write_text(tank_text(more="\n".join(asked)))
    output = tmp_path / "report.html"
    assert main(["report", policy, "--plant", plant, "-o", str(output)]) == 0
    text = output.read_text()
    assert '<span class="answer-word proved">proved</span> <code>always level &gt;= 0.4' in text
    assert '<span class="answer-word refuted">refuted</span> <code>always level &gt;= 0.6' in text
    assert text.count("data:image/png;base64,") == 1
    assert "It leaves out: everything else." in text
