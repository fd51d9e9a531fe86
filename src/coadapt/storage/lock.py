"""One process at a time writes a folder. The lock is the system's: it is gone with the process, however that ends.

There are file systems, most of them on a network, where the system's lock keeps nobody out. So whoever takes the lock
signs it, and looks again before everything it writes: a signature that is another one is that of somebody who came
later, and then the one who was first stops.
"""

import errno
import os
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from filelock import lock_descriptor

from coadapt.storage.files import StorageError, explained, opened, rename, write_all

FILE = "lock"
NOT_SUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)
"""What a file system answers that knows no locks."""
LOCKED_BYTE = b"\n"
"""The file's first. Windows lets nobody else read what is locked, so the signature comes after it."""


class Busy(StorageError):
    """Another process has the lock."""


class TakenOver(Busy):
    """Another process had the lock taken while this one was at work: nothing may be written any more."""


class Lock(NamedTuple):
    """A folder that this process may write, as long as its signature stands there."""

    folder: Path
    signature: bytes  # empty if there was no room for it
    excludes: bool  # whether the system really keeps others out

    def check(self) -> None:
        """Refuse to go on if somebody else has signed since."""
        found = _read(self.folder / FILE)
        if self.signature and found != self.signature:
            whose = f"{self.folder} was taken over by {_in_words(found)}, for no lock holds on its file system"
            raise TakenOver(f"{whose}; this process has stopped and leaves everything to the other")


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Within it no other process has the folder's lock."""
    file = folder / FILE
    with ExitStack() as until_left:
        with explained(file):
            descriptor = until_left.enter_context(opened(file, os.O_RDWR | os.O_CREAT))
            taken = _take(descriptor, attempts=5)
            if taken and not _is_still_there(descriptor, file):
                raise Busy(f"{folder} was moved away by another process at this moment; try again")
            excludes = taken and _excludes(file)
        owner = _read(file)
        if not taken or (not excludes and _is_alive(owner)):
            raise Busy(f"{folder} is being written by {_in_words(owner)}; wait until it has ended, or stop it first")
        lock = Lock(folder, _sign(descriptor), excludes)
        until_left.callback(_take_back, descriptor, lock)
        yield lock


def is_locked(folder: Path) -> bool:
    """Whether a process is writing there now, as far as one may know."""
    file = folder / FILE
    lives = _is_alive(_read(file))
    how = os.O_RDWR if os.access(file, os.W_OK) else os.O_RDONLY  # NFS locks only what is open for writing
    with suppress(OSError), opened(file, how) as descriptor:
        return not _take(descriptor, attempts=1 if lives else 3) or (lives and not _excludes(file))
    return lives


def move(folder: Path, to: Path) -> None:
    """Move a folder that nobody is writing. Windows moves none with open files in it, so there the lock goes first."""
    with locked(folder):
        if sys.platform != "win32":
            return rename(folder, to)
    return rename(folder, to)


def _is_still_there(descriptor: int, file: Path) -> bool:
    """Whether what is locked is what lies there: the folder may have been renamed since it was opened."""
    with suppress(OSError), opened(file, os.O_RDONLY) as found:
        return os.path.sameopenfile(descriptor, found)
    return False


def _take(descriptor: int, attempts: int = 1) -> bool:
    """Take the lock if it is free. Who only looks has it for an instant, so it is worth trying again."""
    for attempt in range(attempts):
        if attempt:
            time.sleep(0.05)
        try:
            if lock_descriptor(descriptor, blocking=False):
                return True
        except OSError as problem:
            if problem.errno not in NOT_SUPPORTED:
                raise
            return True
    return False


def _excludes(file: Path) -> bool:
    """Whether the lock that this process has just taken keeps others out: it must keep out the process itself."""
    with opened(file, os.O_RDWR) as descriptor:
        return not _take(descriptor)


def _sign(descriptor: int) -> bytes:
    """Leave a name for whoever comes next; it does not matter if there is no room for it."""
    signature = f"process {os.getpid()} on {socket.gethostname()}\n{secrets.token_hex(16)}".encode()
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        write_all(descriptor, LOCKED_BYTE + signature)
        return signature
    return b""


def _take_back(descriptor: int, lock: Lock) -> None:
    """Who has gone leaves no name, unless it is somebody else's by now."""
    with suppress(OSError):
        if _read(lock.folder / FILE) == lock.signature:
            os.ftruncate(descriptor, 0)


def _read(file: Path) -> bytes:
    """Who has signed the lock. Its file is opened anew each time, or a network's cache might answer."""
    with suppress(OSError), opened(file, os.O_RDONLY) as descriptor:
        os.lseek(descriptor, len(LOCKED_BYTE), os.SEEK_SET)
        return os.read(descriptor, 500)
    return b""


def _in_words(signature: bytes) -> str:
    name = signature.decode(errors="replace").partition("\n")[0]
    return name if name.isprintable() and name else "another process"


def _is_alive(signature: bytes) -> bool:
    """Whether a signature is that of a process of this machine that has not ended. Asking Windows would end it."""
    name, _, host = _in_words(signature).removeprefix("process ").partition(" on ")
    if sys.platform == "win32" or host != socket.gethostname() or not name.isdecimal() or len(name) > 9:
        return False
    try:
        os.kill(int(name), 0)
    except OSError as problem:
        return not isinstance(problem, ProcessLookupError)  # but somebody else's
    return True
