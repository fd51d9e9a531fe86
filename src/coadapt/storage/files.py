"""Files that are whole or not there: written beside their place, synced, and renamed into it.

Everything that is stored goes through here, so that one place knows what a full disk or a killed process leaves behind.
"""

import errno
import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args, get_origin

MOST_BYTES = 64 * 2**20
"""Larger files of JSON, text or pictures are none of ours, and nobody waits until they are read."""
LARGEST_WHOLE = 2**63
"""Whole numbers have to be smaller: no count, size or seed of ours is as large, and computing with it would fail."""
MOST_LEVELS = 64
"""So many lists and objects within each other can be read."""
AS_THEY_ARE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How files are opened: nobody waits for a pipe and, on Windows, no byte becomes two."""


class StorageError(Exception):
    """Something about stored files that a person should know, as one sentence without its full stop."""


class CannotWrite(StorageError):
    """The disk is full, the folder may not be written to, and the like."""


class Damaged(StorageError):
    """A file is missing, cut short or changed. It must not be used."""


class Incompatible(StorageError):
    """A file is whole, but not of the thing it is asked for."""


def check_kinds(path: Path, data: dict[str, Any], kinds: dict[str, Any]) -> None:
    """Refuse data in which something is missing or of another kind than it should be, such as int or list[str]."""
    for name, kind in kinds.items():
        if not _is_of(kind, data.get(name)):
            raise Incompatible(f"{path} does not say what it should under {name!r}")


def _is_of(kind: Any, value: Any) -> bool:
    if kind is Any:
        return True
    if get_origin(kind) in (list, dict):
        *_, inner = get_args(kind)
        within = value.values() if isinstance(value, dict) else value
        return isinstance(value, get_origin(kind)) and all(_is_of(inner, each) for each in within)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def make_folder(path: Path, keep: bool = True) -> Path:
    """The folder, made if need be; none is left behind if nothing can be written there, or if it is not to be kept."""
    made: list[Path] = []
    try:
        made = [place for place in (path, *path.parents) if not place.exists()]  # the innermost first
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".probe-{os.getpid()}.part"
        probe.touch()
        probe.unlink()
    except OSError as problem:
        keep = False
        raise CannotWrite(f"cannot write to the folder {path}: {problem.strerror or problem}") from problem
    finally:
        for folder in () if keep else made:
            with suppress(OSError):  # it is not there, or no longer empty
                folder.rmdir()
    return path


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part, even after a loss of power."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with explained(path):
        try:
            with opened(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as descriptor:
                write_all(descriptor, data)
                os.fsync(descriptor)
            os.replace(part, path)
            _sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise


def write_text(path: Path, text: str) -> None:
    """The same for text."""
    write_bytes(path, text.encode())


def write_json(path: Path, data: Any) -> None:
    """The same for data that JSON can hold."""
    write_text(path, json_text(data))


def json_text(data: Any) -> str:
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """What a file holds; one that cannot be read, or is larger than it may be, is damaged."""
    try:
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > most:
                raise OSError(errno.EFBIG, f"it has {size:,} bytes, and {most:,} at the most are expected")
            return file.read(most)
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    except OSError as problem:
        raise Damaged(f"{path} cannot be read: {problem.strerror or problem}") from problem


def open_regular(path: Path, how: int) -> int:
    """A descriptor of a file. That of a pipe, a folder or a device is refused, and never waited for."""
    descriptor = os.open(path, how | AS_THEY_ARE, 0o666)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, os.strerror(errno.EISDIR) if stat.S_ISDIR(kind) else "it is not a regular file")


@contextmanager
def opened(path: Path, how: int) -> Iterator[int]:
    """The same for as long as one is within it."""
    descriptor = open_regular(path, how)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_json(path: Path) -> Any:
    """What a JSON file holds; one that is not JSON is damaged."""
    return parse_json(path, read_bytes(path))


def parse_json(path: Path, data: bytes) -> Any:
    """The same for what was read from the path before."""
    try:
        return from_json(data)
    except ValueError as problem:
        raise Damaged(f"{path} is not readable as JSON: {problem}") from problem


def from_json(data: bytes) -> Any:
    """What JSON says, if it is such as ours: numbers that can be computed with, text that can be written again.

    Everything else is a ValueError, so that whoever uses what was read need not think of it.
    """
    try:
        found = json.loads(data.decode(), parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
        if _levels(found) > MOST_LEVELS:
            raise RecursionError
    except RecursionError:
        raise ValueError("there is too much within each other") from None
    if b"\\ud" in data.lower():
        json.dumps(found, ensure_ascii=False).encode()  # which refuses half a character
    return found


def _refuse(constant: str) -> Any:
    """JSON knows no NaN and no infinity, and nothing of ours writes them."""
    raise ValueError(f"{constant} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large for a number")
    return number


def _whole(digits: str) -> int:
    if len(digits) > len(str(LARGEST_WHOLE)) or not abs(int(digits)) < LARGEST_WHOLE:
        raise ValueError(f"a whole number of {len(digits.lstrip('-'))} digits is too large")
    return int(digits)


def _levels(data: Any) -> int:
    """How many lists and objects are within each other."""
    if not isinstance(data, dict | list):
        return 0
    return 1 + max(map(_levels, data.values() if isinstance(data, dict) else data), default=0)


def remove(path: Path) -> None:
    """Away with a file, if it is there."""
    with explained(path):
        path.unlink(missing_ok=True)


def rename(path: Path, to: Path) -> None:
    with explained(path):
        path.replace(to)


def write_all(descriptor: int, data: bytes) -> None:
    """All of the data to an open file, however little the system takes at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Within it, what the system refuses is told with the name of the file that it is about."""
    try:
        yield
    except OSError as problem:
        raise CannotWrite(f"cannot write {path}: {problem.strerror or problem}") from problem


def remove_leftovers(folder: Path) -> None:
    """Away with the parts of files that a killed process was writing. Only for who holds the lock of the folder."""
    for part in folder.glob(".*.part"):
        with suppress(OSError):
            part.unlink()


def _sync_folder(path: Path) -> None:
    """A rename lasts when its folder is synced. Windows opens no folders, and needs no such thing."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
