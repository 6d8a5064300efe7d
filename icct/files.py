"""Every file of a user comes in here, and every file of ours goes out here.

Coming in: only regular files, of a stated size, are read; whatever is wrong with one ends in an
error that names the file. Going out: a file is complete or untouched. Needs the standard library
only, and knows nothing of what the files say.
"""

import json
import os
import re
import stat
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from icct.errors import FileError, IcctError, shown

AnyPath: TypeAlias = str | os.PathLike[str]
ErrorType: TypeAlias = type[IcctError]
Files: TypeAlias = dict[AnyPath, str | bytes]

LARGEST = 4 * 2**20  # bytes; Python's values take up to 40 times the room of their JSON
LARGEST_TOML = 2**18  # bytes; written by hand, and read by a parser in Python
LARGEST_WHOLE_NUMBER = 2**63  # that TOML promises
MOST_DOTS = 16  # in a key of TOML, whose reading takes the square of them
TEMPORARY = ".icct-"  # how the names of temporary files begin; a kill leaves them behind
DO_NOT_WAIT = getattr(os, "O_NONBLOCK", 0)  # for somebody to write into a pipe

_WORD = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"(?<![\w.-]){_WORD}(?:[ \t]*+\.[ \t]*+{_WORD}){{{MOST_DOTS}}}")
_OTHER_THINGS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


# -- reading ------------------------------------------------------------------------------------


def read_bytes(
    path: AnyPath, kind: str, limit: int = LARGEST, error: ErrorType = FileError
) -> bytes:
    """Return what is in a file.

    Args:
        path: The file; pipes, devices and folders are refused, without waiting for them.
        kind: What it should be, in words such as `a policy file`; it stands in the errors.
        limit: The most bytes such a file may have.
        error: What to raise.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            about = os.fstat(file.fileno())
            _check_regular(about.st_mode, path, f"expected {kind}", error)
            content = b"" if about.st_size > limit else file.read(limit + 1)
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}; expected {kind}.") from None
    except ValueError:  # a zero byte
        raise error(f"{os.fspath(path)!r}: this is not the name of a file.") from None
    size = max(about.st_size, len(content))
    if size > limit:
        raise error(f"{path}: {size:,} bytes, expected at most {limit:,}: this is not {kind}.")
    return content


def read_text(path: AnyPath, kind: str, limit: int = LARGEST, error: ErrorType = FileError) -> str:
    """Return what is in a file of UTF-8 text; `read_bytes` explains the arguments."""
    content = read_bytes(path, kind, limit, error)
    with naming(path, error, kind):
        return _decoded(content, error)


def read_json(path: AnyPath, kind: str, limit: int = LARGEST, error: ErrorType = FileError) -> Any:
    """Return the value in a JSON file; `read_bytes` explains the arguments."""
    content = read_bytes(path, kind, limit, error)
    with naming(path, error, kind):
        return json_from(content, error)


def read_toml(
    path: AnyPath, kind: str, limit: int = LARGEST_TOML, error: ErrorType = FileError
) -> dict[str, Any]:
    """Return the tables of a TOML file; `read_bytes` explains the arguments."""
    content = read_bytes(path, kind, limit, error)
    with naming(path, error, kind):
        return toml_from(content, error)


def json_from(
    content: str | bytes, error: ErrorType = FileError, *, finite: bool = False
) -> object:
    """Return the value that JSON describes; `finite`: refuse NaN and infinities.

    >>> json_from('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    icct.errors.FileError: the key 'a' stands twice in one object.
    """

    def constant(text: str) -> float:
        if finite:
            raise error(f"found {text}, expected finite numbers only.")
        return float(text)

    def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
            raise error(f"the key {shown(twice)} stands twice in one object.")
        return found

    text = _decoded(content, error)
    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=without_duplicates)
    except json.JSONDecodeError as problem:
        raise error(
            f"line {problem.lineno}, column {problem.colno}: not valid JSON ({problem.msg})."
        ) from None
    except RecursionError:
        raise error("not readable as JSON: nested too deeply.") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise error("not readable as JSON: a number has thousands of digits.") from None


def toml_from(
    content: str | bytes, error: ErrorType = FileError, *, decimals: bool = False
) -> dict[str, Any]:
    """Return the tables that TOML describes; `decimals`: numbers as they are written.

    >>> toml_from("a.b = 1")
    {'a': {'b': 1}}
    >>> toml_from("a = 0.1", decimals=True)
    {'a': Decimal('0.1')}
    """
    text = _decoded(content, error)
    if long := _DOTTED.search(text):
        raise error(
            f"line {text.count(chr(10), 0, long.start()) + 1}: the key {shown(long[0])} has too "
            f"many parts, expected at most {MOST_DOTS}."
        )
    try:
        tables = tomllib.loads(text, parse_float=Decimal if decimals else float)
    except tomllib.TOMLDecodeError as problem:
        raise error(f"not valid TOML: {problem}.") from None
    except RecursionError:
        raise error("not readable as TOML: nested too deeply.") from None
    except ValueError:  # as in JSON, or a date that does not exist
        raise error("not readable as TOML: a number has thousands of digits.") from None
    _check_whole_numbers(tables, error)
    return tables


@contextmanager
def naming(path: AnyPath, error: ErrorType, kind: str = "") -> Iterator[None]:
    """Let every error of that type name the file it is about, and what kind it should be."""
    try:
        yield
    except error as problem:
        raise error(f"{path}: {problem}{f' Expected {kind}.' if kind else ''}") from None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | DO_NOT_WAIT)


def _check_regular(mode: int, path: AnyPath, expected: str, error: ErrorType) -> None:
    if not stat.S_ISREG(mode):
        found = _OTHER_THINGS.get(stat.S_IFMT(mode), "no regular file")
        raise error(f"{path}: this is {found}, {expected}.")


def _decoded(content: str | bytes, error: ErrorType) -> str:
    if isinstance(content, str):
        return content
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error(f"byte {problem.start} is not UTF-8 text.") from None


def _check_whole_numbers(tables: dict[str, Any], error: ErrorType) -> None:
    """Refuse what hexadecimal digits allow: numbers that Python itself refuses to print."""
    waiting: list[Any] = [tables]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int) and abs(value) > LARGEST_WHOLE_NUMBER:
            raise error("a whole number is larger than TOML allows (64 bits).")


# -- writing ------------------------------------------------------------------------------------


def write_atomically(path: AnyPath, content: str | bytes, error: ErrorType = FileError) -> None:
    """Write a file in one step: it is complete or untouched, never half-written."""
    write_together({path: content}, error)


def write_json(path: AnyPath, content: Any, error: ErrorType = FileError) -> None:
    """Write a JSON file; it is complete or untouched."""
    write_atomically(path, json.dumps(content, indent=2) + "\n", error)


def write_together(files: Files, error: ErrorType = FileError) -> None:
    """Write files that belong together: no full disk leaves some of them behind."""
    with replacing(*files, error=error) as temporaries:
        for temporary, content in zip(temporaries, files.values(), strict=True):
            temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def replacing(*paths: AnyPath, error: ErrorType = FileError) -> Iterator[tuple[Path, ...]]:
    """Give a temporary file for each path, to be written inside; then all take their places.

    Where anything goes wrong inside, every path is as it was and the temporary files are gone.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a.txt") as (temporary,):
    ...         _ = temporary.write_text("hello")
    ...     os.listdir(folder)
    ['a.txt']
    """
    targets = [Path(path) for path in paths]
    temporaries: list[Path] = []
    replaced: list[str] = []
    try:
        for target in targets:
            if target.exists():
                _check_regular(target.stat().st_mode, target, "expected a file to write", error)
            temporaries.append(_temporary_beside(target))
        yield tuple(temporaries)
        for temporary in temporaries:
            _settle(temporary)
        for temporary, target in zip(temporaries, targets, strict=True):
            os.replace(temporary, target)
            replaced.append(str(target))
    except OSError as problem:
        changed = f"Only {', '.join(replaced)} was written" if replaced else "Nothing was changed"
        raise error(
            f"{', '.join(map(str, targets))}: cannot be written: {problem.strerror}. {changed}."
        ) from None
    finally:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)


def _temporary_beside(target: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=TEMPORARY, suffix=target.suffix)
    os.close(handle)
    return Path(name)


def _settle(temporary: Path) -> None:
    """Put the content on the disk before the name: a power cut must not leave an empty file."""
    os.chmod(temporary, 0o644)  # mkstemp makes it private to its owner
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
