"""Files that are whole or not there: written beside their place, synced, and renamed into it.

Everything that is stored goes through here, so that one place knows what a full disk or a killed process leaves behind.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class StorageError(Exception):
    """Something about stored files that a person should know, as one sentence without its full stop."""


class CannotWrite(StorageError):
    """The disk is full, the folder may not be written to, and the like."""


class Damaged(StorageError):
    """A file is missing, cut short or changed. It must not be used."""


class Foreign(StorageError):
    """A file is whole, but not of the thing it is asked for."""


def check_kinds(path: Path, data: dict[str, Any], kinds: dict[str, Any]) -> None:
    """Refuse data in which something is missing or of another kind than it should be."""
    for name, kind in kinds.items():
        if not isinstance(data.get(name), kind):
            raise Foreign(f"{path} does not say what it should under {name!r}")


def make_folder(path: Path) -> Path:
    """The folder, made if need be; refused if nothing can be written there, and then none is left behind."""
    missing: list[Path] = []
    try:
        missing = [place for place in (path, *path.parents) if not place.exists()]
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".probe-{os.getpid()}.part"
        probe.touch()
        probe.unlink()
    except OSError as problem:
        for place in missing:  # the innermost first
            with suppress(OSError):
                place.rmdir()
        raise CannotWrite(f"cannot write to the folder {path}: {problem.strerror or problem}") from problem
    return path


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part, even after a loss of power."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with explained(path):
        try:
            _write_synced(part, data)
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


def read_bytes(path: Path) -> bytes:
    """What a file holds; one that cannot be read is damaged."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    except OSError as problem:
        raise Damaged(f"{path} cannot be read: {problem.strerror or problem}") from problem


def read_json(path: Path) -> Any:
    """What a JSON file holds; one that is not JSON is damaged."""
    return parse_json(path, read_bytes(path))


def parse_json(path: Path, data: bytes) -> Any:
    """The same for what was read from the path before."""
    try:
        return json.loads(data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise Damaged(f"{path} is not readable as JSON: {problem}") from problem


def _refuse(constant: str) -> Any:
    """JSON knows no NaN and no infinity, and nothing of ours writes them."""
    raise ValueError(f"{constant} is no number")


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


def _write_synced(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(path: Path) -> None:
    """A rename lasts when its folder is synced."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
