import json
import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icct.errors import IcctError, PolicyError
from icct.policy import Policy
from icct.policy.file import (
    LARGEST_FILE,
    policy_from_json,
    policy_to_json,
    read_policy,
    write_policy,
)
from icct.zoo import load_policy, zoo_names, zoo_policy
from tests.random_policies import random_policy


@given(seed=st.integers(0, 10**6), bounded=st.booleans())
def test_reading_gives_back_what_was_written(seed: int, bounded: bool) -> None:
    policy = random_policy(seed, bounded=bounded)
    assert policy_from_json(policy_to_json(policy)) == policy


def test_files_round_trip_and_are_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    write_policy(random_policy(1), path)
    write_policy(random_policy(2), path)
    assert read_policy(path) == random_policy(2)
    assert os.listdir(tmp_path) == ["policy.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.json"
    write_policy(random_policy(1), path)

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(PolicyError, match="No space left on device"):
        write_policy(random_policy(2), path)
    assert read_policy(path) == random_policy(1)
    assert os.listdir(tmp_path) == ["policy.json"]
    with pytest.raises(PolicyError, match="cannot be written"):
        write_policy(random_policy(2), tmp_path / "missing" / "policy.json")


def changed(**changes: object) -> str:
    """Return the file of a small policy with some top-level entries replaced."""
    content = json.loads(policy_to_json(small_policy()))
    return json.dumps({**content, **changes})


def small_policy() -> Policy:
    return zoo_policy("ring-cruiser")


def node(index: int, **changes: object) -> str:
    nodes = json.loads(policy_to_json(small_policy()))["nodes"]
    nodes[index] |= changes
    return changed(nodes=nodes)


RULE = {"weights": {}, "bias": 0.0}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "line 1, column 1: not valid JSON"),
        ("[]", "the file is a list, expected an object"),
        ("{}", "this is not a policy file"),
        (b"\xff\xfe{}", "byte 0 is not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format": NaN}', "found NaN"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"a": ' + "9" * 5000 + "}", "a number has thousands of digits"),
        (changed(version=2), "'version' is 2, and this icct reads version 1"),
        (changed(version=True), "'version' is True"),
        (changed(sqash="tanh"), "unknown key 'sqash'"),
        (changed(squash="sigmoid"), "squash is 'sigmoid'"),
        (changed(name=3), "'name' is the number 3, expected text"),
        (changed(nodes={}), "'nodes' is an object, expected a list"),
        (changed(nodes=[]), "no node"),
        (changed(nodes=[{}]), "node 0 is neither a split nor a leaf"),
        (changed(nodes=[{"leaf": {}}]), "node 0 has no 'acceleration'"),
        (changed(nodes=[{"leaf": {"acceleration": 1}}]), "'acceleration' is the number 1"),
        (node(0, split="sped_ego"), "node 0 tests 'sped_ego', which is not one of the features"),
        (node(0, split="sped_ego"), "Did you mean 'speed_ego'?"),
        (node(0, threshold="0.1"), "'threshold' is text, expected a number"),
        (node(0, threshold=1e400), "found Infinity"),
        (node(0, threshold=10**400), "'threshold' is too large"),
        (node(0, threshold=True), "'threshold' is true or false"),
        (node(0, below=1.0), "'below' is the number 1.0, expected a whole number"),
        (node(0, below=-1), "below leads to node -1"),
        (node(0, below=0), "leads back to node 0"),
        (node(0, below=3), "each node has one parent"),
        (node(1, leaf={"acceleration": RULE, "steer": RULE}), "commands 'steer'"),
        (node(1, leaf={"acceleration": {"weights": {"x": 1}, "bias": 0}}), "uses 'x'"),
        (node(1, leaf={"acceleration": {"weights": {}}}), "has no 'bias'"),
        (node(1, log_std=[1, 2]), "log_std has 2 numbers"),
        (node(1, log_std=7), "'log_std' is the number 7"),
        (changed(provenance={"seed": "x"}), "'seed' is text"),
        (changed(provenance={"history": [1]}), "'history' must be a list of sentences"),
        (changed(provenance={"history": ["\x1b[2J"]}), "printed on one line"),
        (changed(provenance={"config": {"a": [1]}}), "config 'a' is [1]"),
        (changed(features=[{"name": "speed_ego"}] * 2), "Two features are called"),
        (changed(features=[{"name": "a", "low": 2, "high": 1}]), "low is 2.0 and high is 1.0"),
        (changed(name="\ud800"), "printed on one line"),
    ],
)
def test_wrong_files_are_refused_in_words(content: str | bytes, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from_json(content)
    assert says in str(caught.value)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ring.json"
    with pytest.raises(PolicyError, match=r"ring\.json: cannot be read: No such file"):
        read_policy(path)
    with pytest.raises(PolicyError, match="Is a directory"):
        read_policy(tmp_path)
    path.write_text("{")
    with pytest.raises(PolicyError, match=r"ring\.json: line 1, column 2"):
        read_policy(path)
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(PolicyError, match="expected at most 4,194,304"):
        read_policy(path)


def read_in_time(text: str) -> Policy | None:
    """Return the policy in a large file, or None where it is refused; both at once."""
    start = time.process_time()
    try:
        return policy_from_json(text)
    except PolicyError:
        return None
    finally:
        assert time.process_time() - start < 6  # a second or two; the square of it is a minute


def test_reading_takes_time_in_proportion_to_the_file() -> None:
    splits = [
        {"split": "x0", "threshold": 0, "below": 2 * i + 1, "above": 2 * i + 2}
        for i in range(10_000)
    ]
    leaves = [{"leaf": {"acceleration": RULE}}] * 10_001
    features = [{"name": f"x{i}"} for i in range(80_000)]
    many = read_in_time(changed(features=features, nodes=[*splits, *leaves]))
    assert many is not None
    assert len(many.nodes) == 20_001
    actions = [{"name": f"u{i}"} for i in range(30_000)]
    rules = {action["name"]: RULE for action in actions}
    assert read_in_time(changed(actions=actions, nodes=[{"leaf": rules}])) is not None
    versions = {"versions": {f"v{i}": "1" for i in range(200_000)}}
    assert read_in_time(changed(provenance=versions)) is not None
    assert read_in_time("{" + '"a": 1, ' * 200_000 + '"b": 1}') is None
    asked = [{"split": "y" * 500_000, "threshold": 0, "below": 1, "above": 2}]
    assert read_in_time(changed(features=features, nodes=asked)) is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (changed(name="x" * 201), "the policy's name has 201 characters, expected at most 200"),
        (changed(features=[{"name": "x" * 10**6}]), "has 1,000,000 characters"),
        (changed(actions=[{"name": "u", "unit": "x" * 201}]), "unit has 201 characters"),
        (changed(provenance={"history": ["x" * 10_001]}), "has 10,001 characters"),
        (changed(provenance={"config": {"a": "x" * 10_001}}), "has 10,001 characters"),
        (changed(squash="x" * 10**6), "squash is 'xxx"),
        (changed(**{"x" * 10**6: 1}), "unknown key 'xxx"),
        (changed(format=["x" * 10**6] * 3), "'format' is ['xxx"),
    ],
)
def test_what_is_said_of_a_long_text_is_short(content: str, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from_json(content)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 2100


def test_2000_mutated_files_are_read_or_refused() -> None:
    """No file makes any other exception than an IcctError, and what is read is sound."""
    rng = random.Random(0)
    outcomes = {"read": 0, "refused": 0}
    for trial in range(2000):
        text = policy_to_json(random_policy(trial % 50, bounded=trial % 2 == 0))
        content = mutated(text, rng)
        try:
            policy = policy_from_json(content)
        except IcctError:
            outcomes["refused"] += 1
        else:
            assert policy_from_json(policy_to_json(policy)) == policy
            policy.act([0.0] * len(policy.features))
            outcomes["read"] += 1
    assert outcomes["refused"] > 1000
    assert outcomes["read"] > 50


def mutated(text: str, rng: random.Random) -> bytes:
    """Return a policy file damaged in one of many ways."""
    content = text.encode()
    kind = rng.randrange(6)
    if kind == 0:
        return content[: rng.randrange(len(content))]
    if kind == 1:
        place = rng.randrange(len(content))
        return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
    if kind == 2:
        start, end = sorted(rng.sample(range(len(content)), 2))
        return content[:start] + content[end:]
    tree = json.loads(text)
    for _ in range(rng.randrange(1, 4)):
        owner, key = rng.choice(list(entries(tree)))
        if kind == 3:
            owner[key] = rng.choice(
                [None, True, -1, 10**400, 1e308, "", "x", [], {}, [[]], 0.5, 3, float("nan")]
            )
        elif kind == 4 and isinstance(owner, dict):
            owner.pop(key, None)
        else:
            other, place = rng.choice(list(entries(tree)))
            if key in keys(owner) and place in keys(other):
                owner[key], other[place] = other[place], owner[key]
    try:
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):  # a swap tied the tree into a knot
        return content[:-3]


def entries(tree: object):  # type: ignore[no-untyped-def]
    if isinstance(tree, dict | list):
        for key in keys(tree):
            yield tree, key
            yield from entries(tree[key])


def keys(tree: object):  # type: ignore[no-untyped-def]
    return list(tree) if isinstance(tree, dict) else range(len(tree))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", zoo_names())
def test_shipped_policies_are_written_as_we_write_them(name: str) -> None:
    policy = load_policy(f"zoo:{name}")
    file = Path(__file__).parents[2] / "icct" / "zoo" / f"{name}.json"
    assert file.read_text() == policy_to_json(policy)
    assert policy.name == name.replace("/", "-")


def test_unknown_shipped_policies_are_refused() -> None:
    with pytest.raises(PolicyError, match="Did you mean 'ring-cruiser'"):
        load_policy("zoo:ring-cruisr")
