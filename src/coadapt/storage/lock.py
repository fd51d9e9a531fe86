"""One process at a time writes a folder. The lock is the system's: it is gone with the process, however that ends."""

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coadapt.storage.files import StorageError, explained

FILE = "lock"


class Busy(StorageError):
    """Another process has the lock."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Within it no other process has the folder's lock."""
    descriptor = _open(folder / FILE)
    try:
        with explained(folder / FILE):
            taken = _take(descriptor, fcntl.LOCK_EX, attempts=5)
        if not taken:
            raise Busy(f"{folder} is being written by {_owner(descriptor)}; wait until it has ended, or stop it first")
        if not _is_still_there(descriptor, folder / FILE):
            raise Busy(f"{folder} was moved away by another process at this moment; try again")
        _sign(descriptor)
        yield
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process is writing there now, as far as one may know."""
    try:
        descriptor = os.open(folder / FILE, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _take(descriptor, fcntl.LOCK_SH)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _open(file: Path) -> int:
    with explained(file):
        return os.open(file, os.O_RDWR | os.O_CREAT, 0o666)


def _is_still_there(descriptor: int, file: Path) -> bool:
    """Whether what is locked is what lies there: the folder may have been renamed since it was opened."""
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except OSError:
        return False


def _take(descriptor: int, kind: int, attempts: int = 1) -> bool:
    """Take the lock if it is free. Who only looks has it for an instant, so it is worth trying again."""
    for attempt in range(attempts):
        if attempt:
            time.sleep(0.05)
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
    return False


def _sign(descriptor: int) -> None:
    """Leave a name for whoever comes next; it does not matter if there is no room for it."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())


def _owner(descriptor: int) -> str:
    name = os.pread(descriptor, 200, 0).decode(errors="replace")
    return name or "another process"
