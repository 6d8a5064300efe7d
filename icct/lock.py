"""One writer at a time: a lock that the kernel frees when its process ends, however it ends.

The lock is `flock` on a file beside what is written, so a file that a crash left behind locks
nothing. On NFS it holds between machines as far as the server's lock service works; where a file
system has no locks at all, that is said instead of going on without.
"""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from icct.errors import ConfigError


@contextmanager
def only_writer(target: Path, lock: Path) -> Iterator[None]:
    """Hold a lock file until the context ends, or refuse because another process holds it.

    Args:
        target: What is written, for the message.
        lock: The lock file; it goes away with the lock.
    """
    held = _locked(target, lock)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)  # before the lock is free: afterwards it may be another's
        os.close(held)


def _locked(target: Path, lock: Path) -> int:
    """Return the descriptor of the lock file, locked, with this process's name in it."""
    while True:
        try:
            held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ConfigError(f"{target}: cannot be written: {error.strerror}.") from None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, held):
                os.ftruncate(held, 0)
                os.write(held, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
                return held
        except OSError as error:
            owner = os.read(held, 200).decode(errors="replace").strip()
            os.close(held)
            raise _refusal(target, owner, error) from None
        os.close(held)  # its last owner removed the file between our two steps


def _is_at(lock: Path, held: int) -> bool:
    """Return whether an open file is the one that lies at the path."""
    try:
        return os.path.samestat(os.stat(lock), os.fstat(held))
    except FileNotFoundError:
        return False


def _refusal(target: Path, owner: str, error: OSError) -> ConfigError:
    if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
        return ConfigError(
            f"{target} is being written by {owner or 'another process'}. Wait until it ends, or "
            "choose another place."
        )
    return ConfigError(f"{target}: cannot be locked for writing: {error.strerror}.")


def is_held(lock: Path) -> bool:
    """Return whether some process holds a lock file just now; a file alone locks nothing."""
    try:
        found = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        os.close(found)
    return False
