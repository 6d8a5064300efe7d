"""Files come in whole or not at all, and go out in the same way; what is said of them is short."""

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from icct.errors import FileError, IcctError, PolicyError, did_you_mean, printable, shown
from icct.files import (
    LARGEST,
    json_from,
    read_bytes,
    read_json,
    read_text,
    read_toml,
    replacing,
    toml_from,
    write_atomically,
    write_together,
)

KIND = "a file of this test"


def refused(read: Callable[[], object]) -> str:
    """Return what the error says; whatever was read, it is short and printable."""
    start = time.process_time()
    with pytest.raises(IcctError) as caught:
        read()
    assert time.process_time() - start < 2
    text = str(caught.value)
    assert len(text) < 3000
    assert text.replace("\n", " ").isprintable()
    return text


# -- what is no file of a sensible size -----------------------------------------------------------


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: this is a pipe, expected a file of this test" in refused(
        lambda: read_bytes(tmp_path / "pipe", KIND)
    )
    assert "Is a directory" in refused(lambda: read_text(tmp_path, KIND))
    for device in ("/dev/zero", "/dev/null"):
        assert f"{device}: this is a device" in refused(lambda at=device: read_json(at, KIND))
    assert "cannot be read: No such file" in refused(lambda: read_toml(tmp_path / "none", KIND))
    assert "not the name of a file" in refused(lambda: read_text("a\0b", KIND))


def test_no_more_is_read_than_was_allowed(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"12345")
    assert read_bytes(path, KIND, limit=5) == b"12345"
    assert "5 bytes, expected at most 4" in refused(lambda: read_bytes(path, KIND, limit=4))
    with path.open("wb") as file:
        file.truncate(2**40)  # a hole: a terabyte that takes no room
    assert f"expected at most {LARGEST:,}" in refused(lambda: read_text(path, KIND))


def test_a_file_that_does_not_tell_its_size_is_read_up_to_the_limit() -> None:
    path = Path("/proc/self/maps")  # says 0 bytes
    if not path.exists():
        pytest.skip("there is no /proc")
    assert len(read_bytes(path, KIND)) > 10
    assert "expected at most 10" in refused(lambda: read_bytes(path, KIND, limit=10))


# -- what is no JSON or TOML ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff", "byte 0 is not UTF-8"),
        ("{", "line 1, column 2: not valid JSON"),
        ("[" * LARGEST, "nested too deeply"),
        ('{"a":' * 10**5, "nested too deeply"),
        ("9" * 5000, "thousands of digits"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"' + "a" * 10**6 + '": 1, "' + "a" * 10**6 + '": 2}', "stands twice"),
        ('{"\\u001b[2J": 1, "\\u001b[2J": 2}', r"the key '\x1b[2J' stands twice"),
    ],
)
def test_damaged_json_is_refused_in_words(content: str | bytes, says: str, tmp_path: Path) -> None:
    assert says in refused(lambda: json_from(content))
    path = tmp_path / "a.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    text = refused(lambda: read_json(path, KIND))
    assert str(path) in text
    assert says in text


def test_a_key_that_stands_twice_is_found_at_once() -> None:
    pairs = [f'"{i}": 0' for i in range(150_000)]
    content = "{" + ", ".join([*pairs, '"149999": 1']) + "}"  # its square would be a minute
    assert "'149999' stands twice" in refused(lambda: json_from(content))


def test_numbers_that_are_not_finite_are_refused_where_asked() -> None:
    assert json_from("[Infinity]") == [float("inf")]
    assert "found NaN" in refused(lambda: json_from("NaN", finite=True))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a = '\xff'", "byte 5 is not UTF-8"),
        ("a = ", "not valid TOML: Invalid value"),
        ("a = " + "[" * 10**5, "nested too deeply"),
        ("a = " + "{a = " * 10**4, "nested too deeply"),
        ("a = " + "9" * 5000, "thousands of digits"),
        ("a = 0x" + "f" * 5000, "larger than TOML allows"),
        ("a = [{b = 0x" + "f" * 5000 + "}]", "larger than TOML allows"),
        ("\n" + "a." * 200_000 + "a = 1", "line 2: the key 'a.a.a"),
        ("[" + '"a\\"".' * 30_000 + "a]", "too many parts"),
        ("'a' . " * 30_000 + "a = 1", "too many parts"),
        ("[" + "x" * 10**5 + "]\n" + "[" + "x" * 10**5 + "]", "not valid TOML"),
        ('a = 1\na."\\u001b[2J" = 2', "not valid TOML"),
    ],
)
def test_damaged_toml_is_refused_in_words(content: str | bytes, says: str, tmp_path: Path) -> None:
    assert says in refused(lambda: toml_from(content))
    path = tmp_path / "a.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert str(path) in refused(lambda: read_toml(path, KIND))


def test_a_key_of_a_few_parts_is_fine() -> None:
    assert toml_from("a . 'b'.\"c.d\" = 0.5") == {"a": {"b": {"c.d": 0.5}}}


# -- messages -------------------------------------------------------------------------------------


def test_every_error_is_short_and_printable() -> None:
    text = str(PolicyError("start \x1b[2J\u202e\ud800\n" + "x" * 10**7 + " end."))
    assert text.startswith("start \\x1b[2J\\u202e\\ud800\nxxx")
    assert text.endswith("xxx end.")
    assert len(text) <= 2000
    assert len(printable("\x1b" * 10**6)) <= 200
    assert len(shown([["x" * 10**6] * 1000] * 1000)) <= 200
    assert shown({"a": "\x1b"}) == r"{'a': '\x1b'}"


def test_a_guess_takes_no_longer_than_the_names_are_worth() -> None:
    start = time.process_time()
    assert did_you_mean("x" * 10**6, ["y" * 10**6] * 1000) == ""
    assert did_you_mean("speeed", ["speed"] * 10**6) == " Did you mean 'speed'?"
    assert time.process_time() - start < 2


# -- writing --------------------------------------------------------------------------------------


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def content_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_files_are_written_whole_and_readable_by_others(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "old")
    write_together({tmp_path / "a": "é", tmp_path / "b": b"bytes"})
    assert content_of(tmp_path) == {"a": "é", "b": "bytes"}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("files_that_fit", [0, 1])
def test_a_full_disk_leaves_every_file_as_it_was(
    files_that_fit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_atomically(tmp_path / "a", "old")
    fits = [os.fsync] * files_that_fit
    monkeypatch.setattr(os, "fsync", lambda handle: (fits.pop() if fits else full_disk)(handle))
    text = refused(lambda: write_together({tmp_path / "a": "new", tmp_path / "b": "new"}))
    assert "cannot be written: No space left on device. Nothing was changed." in text
    assert content_of(tmp_path) == {"a": "old"}


def test_where_the_second_of_two_cannot_take_its_place_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = [full_disk, os.replace]
    monkeypatch.setattr(os, "replace", lambda source, target: moves.pop()(source, target))
    text = refused(lambda: write_together({tmp_path / "a": "new", tmp_path / "b": "new"}))
    assert f"Only {tmp_path / 'a'} was written." in text
    assert content_of(tmp_path) == {"a": "new"}


def test_only_files_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    both = {tmp_path / "a": "new", tmp_path / "folder": "new"}
    assert "folder: this is a folder" in refused(lambda: write_together(both))
    os.mkfifo(tmp_path / "pipe")
    assert "this is a pipe" in refused(lambda: write_atomically(tmp_path / "pipe", "new"))
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]
    assert "No such file" in refused(lambda: write_atomically(tmp_path / "none" / "a", ""))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError, MemoryError])
def test_no_temporary_file_is_left_behind(stop: type[BaseException], tmp_path: Path) -> None:
    def interrupted() -> None:
        with replacing(tmp_path / "a.png") as (temporary,):
            assert (temporary.parent, temporary.suffix) == (tmp_path, ".png")
            temporary.write_text("half")
            raise stop

    with pytest.raises(stop):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_the_callers_own_error_is_raised(tmp_path: Path) -> None:
    for act in (
        lambda: read_json(tmp_path / "a", KIND, error=PolicyError),
        lambda: write_atomically(tmp_path / "none" / "a", "", error=PolicyError),
        lambda: json_from("{", PolicyError),
        lambda: toml_from("=", PolicyError),
    ):
        with pytest.raises(PolicyError):
            act()
    with pytest.raises(FileError):
        read_json(tmp_path / "a", KIND)
