"""Text → conditions, and what is said about text that is not a property."""

import random
import time
from pathlib import Path

import pytest

from icct.errors import PropertyError
from icct.verify import Property, check, read_properties
from icct.verify.property import LARGEST_FILE, properties_from_toml
from icct.zoo import zoo_policy

RING = zoo_policy("ring-cruiser")


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a <= 1", {"a": 1.0}, True),
        ("a < 1", {"a": 1.0}, False),
        ("a != 1", {"a": 1.0}, False),
        ("a = 1", {"a": 1.0}, True),
        ("a == 1 or b > 2", {"a": 0.0, "b": 3.0}, True),
        ("not (a > 1 and b > 1)", {"a": 2.0, "b": 2.0}, False),
        ("not a > 1", {"a": 1.0}, True),
        ("0 < a <= 1 < b", {"a": 1.0, "b": 1.5}, True),
        ("0 < a <= 1 < b", {"a": 1.0, "b": 1.0}, False),
        ("2 * (a - b) / 4 + 1 >= -b", {"a": -1.0, "b": -1.0}, True),
        ("abs(a) < 0.1", {"a": -0.1}, False),
        ("abs(a - b) > 1 or a = 0", {"a": 3.0, "b": 5.0}, True),
        ("abs(abs(a) - 2) <= 1", {"a": -2.5}, True),
        ("abs(abs(a) - 2) <= 1", {"a": 0.5}, False),
        ("3 - abs(a) > abs(b)", {"a": -1.0, "b": 1.5}, True),
        ("3 - abs(a) > abs(b)", {"a": -2.0, "b": 1.5}, False),
        ("when a > 0 then b > 0", {"a": 0.0, "b": -1.0}, True),
        ("when a > 0 then b > 0", {"a": 1e-300, "b": 0.0}, False),
        ("when a > 0 and (b > 0 or b < -1) then a <= b + .5e1", {"a": 7.0, "b": 1.0}, False),
        ("((a)) < ((1))", {"a": 0.0}, True),
        ("-(-a) > - -1", {"a": 2.0}, True),
        ("a > 0.1", {"a": 0.1}, False),  # numbers are float64, as act() compares them
        ("a + b = 0.3", {"a": 0.1, "b": 0.2}, False),  # and sums are exact
    ],
)
def test_meaning(text: str, values: dict[str, float], expected: bool) -> None:
    assert Property(text).holds(values) is expected


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "found 'the end', expected a name, a number"),
        ("when speed_ego > 1", 19, "found 'the end', expected 'then'"),
        ("speed_ego >", 12, "found 'the end'"),
        ("speed_ego > 1 2", 15, "after the end of the property"),
        ("speed_ego > 1 acceleration", 13, "compared with speed_ego, which is in m/s"),
        ("speed_ego > 3 km/h", 13, "3 km/h is compared with speed_ego, which is in m/s"),
        ("1 < speed_ego < 3 m/s", 1, "stands beside a number without a unit"),
        ("2 m/s < 3 m/s", 1, "expected a feature or an action to compare it with"),
        ("speed_ego * 2 m/s < 3", 11, "not linear"),
        ("speed_ego $ 1", 11, "found '$'"),
        ("speed_ego * acceleration > 1", 11, "not linear"),
        ("speed_ego / acceleration > 1", 13, "a number other than 0 to divide by"),
        ("speed_ego / 0 > 1", 13, "a number other than 0 to divide by"),
        ("speed_ego + 1", 1, "expected a comparison"),
        ("speed_ego > 1 and 2", 19, "expected a comparison"),
        ("(speed_ego > 1) + 1 < 2", 1, "expected a number, found a comparison"),
        ("abs(speed_ego > 1", 15, "found '>', expected ')'"),
        ("speed_ego > 1e999", 13, "too large"),
        ("speed_ego > 1.2.3", 13, "found '1'"),
        ("when when > 1 then x > 1", 6, "found 'when'"),
        ("speed_eg > 1", 1, "Did you mean 'speed_ego'?"),
        ("(" * 60 + "a" + ")" * 60 + " > 1", 52, "levels of brackets"),
        ("not " * 60 + "a > 1", 205, "levels of brackets"),
        (" + ".join(["abs(a)"] * 11) + " < 1", 1, "more than 10 absolute values"),
    ],
)
def test_errors_point_at_the_column(text: str, column: int, says: str) -> None:
    with pytest.raises(PropertyError) as caught:
        check(RING, Property(text))
    message, shown, mark = str(caught.value).split("\n")
    assert message.startswith(f"column {column}: ")
    assert says in message
    assert text[:40].strip() in shown or column > 60
    assert mark.endswith("^")
    if column < 60:
        assert len(mark) == 2 + column


def test_too_many_cases_and_too_long() -> None:
    clauses = " and ".join(["(speed_ego > 1 or acceleration > 1)"] * 11)
    with pytest.raises(PropertyError, match="has 2048 cases, expected at most 1024"):
        check(RING, Property(f"when {clauses} then 1 < 0"))
    with pytest.raises(PropertyError, match="10,003 characters"):
        Property("a" * 9_999 + " < 1")
    with pytest.raises(PropertyError, match="one line of plain text"):
        Property("a <\n1")


SOUND = (
    *("when", "speed_ego", ">", "0.4", "and", "abs", "(", "position_ego", "-", "1", ")", "<"),
    *("0.1", "then", "acceleration", "<=", "0"),
)
NOISE = (
    *SOUND,
    *("or", "not", ">=", "=", "!=", "+", "*", "/", "1e400", ".", "x", "é", "\t", "\\", '"', "'"),
    *(";", "__import__", "0x1", "🙂", "\x00"),
)


def malformed(seed: int) -> str:
    """Return a property with something knocked out of place, or plain noise."""
    rng = random.Random(seed)
    if seed % 2:
        return " ".join(rng.choice(NOISE) for _ in range(rng.randrange(25)))
    tokens = list(SOUND)
    for _ in range(rng.randrange(1, 4)):
        place, change = rng.randrange(len(tokens)), rng.randrange(3)
        tokens[place : place + (change < 2)] = [rng.choice(NOISE)] * (change > 0)
    return " ".join(tokens)


def refusal(text: str) -> str | None:
    """Return what is said about a malformed property; None when it is sound after all."""
    try:
        check(RING, Property(text))
    except PropertyError as error:
        return str(error)
    return None


def test_500_malformed_properties_get_a_clear_error() -> None:
    said = [message for seed in range(600) if (message := refusal(malformed(seed)))]
    assert len(said) >= 500
    for message in said:
        assert message.startswith("column ") or "expected" in message


def many(text: str) -> bytes:
    """Return a file that asks the same of many, as large as a file may be."""
    one = f"property = '{text}'\nwhy = 'w'\n"
    count = LARGEST_FILE // (len(one) + 10)
    return "".join(f"[p{i}]\n{one}" for i in range(count)).encode()


def test_a_reason_may_take_several_lines() -> None:
    (one,) = properties_from_toml(b"[x]\nproperty = 'a < 1'\nwhy = '''It\n  tips.'''")
    assert one.why == "It tips."


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[calm]\nproperty = "abs(acceleration) <= 1"\nwhy = "Comfort."\n')
    (calm,) = read_properties(path)
    assert (calm.name, calm.why) == ("calm", "Comfort.")
    with pytest.raises(PropertyError, match="shipped properties: figure-eight, inverted-pendulum"):
        read_properties("no-such-task")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no property found"),
        (b"x = 1", r"x is 1, expected a table \[x\]"),
        (b"[x]\nproprety = 'a < 1'", "Did you mean 'property'?"),
        (b"[x]\nproperty = 1\nwhy = ''", "property is 1, expected text"),
        (b"[x]\nproperty = 'a < 1'", "no 'why'"),
        (b"[x]\nproperty = 'a <'\nwhy = 'w'", r"\[x\], column 4: found 'the end'"),
        (b"[x", "not valid TOML"),
        (b"['\x1b']", "not valid TOML"),
        (b"[\"\\u001b[2J\"]\nproperty = 'a < 1'\nwhy = 'w'", r"name is '\\x1b\[2J', expected"),
        (b"[x]\nproperty = 'a < 1'\nwhy = \"\\u001b[2J\"", r"why is '\\x1b\[2J', expected"),
        (b"[" + b"x" * 201 + b"]\nproperty = 'a < 1'\nwhy = 'w'", "at most 200 characters"),
        (b"[" + b"x." * 30_000 + b"x]", "too many parts"),
        (many("+".join(f"abs(a{i})" for i in range(10)) + " < 1"), "more than 5,000 comparisons"),
        (many("not " * 40 + "+".join(["abs(a)"] * 10) + " < 1"), "more than 4,096 comparisons"),
        (many("a*" + "1e-300*" * 200 + "1 < 1"), "thousands of digits"),
        (many("a" + "/3e-300" * 200 + " < 1"), "thousands of digits"),
        (many(" + ".join(["abs(a)"] * 10) + " < 1" * 400), "more than"),
        (b"\xff\xfe", "not UTF-8 text"),
    ],
)
def test_bad_files(content: bytes, says: str) -> None:
    start = time.process_time()
    with pytest.raises(PropertyError, match=says) as caught:
        properties_from_toml(content)
    assert time.process_time() - start < 5  # where work is not bounded, a minute
    assert len(str(caught.value)) < 1000
