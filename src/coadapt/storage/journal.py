"""Files that grow by a line at a time: metrics, times, the log."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from coadapt.storage.files import Damaged, explained, from_json, open_regular, read_bytes, write_all

MOST_BYTES = 2**30
"""Of a journal. A thousand seeds write a megabyte with every line."""


class Journal:
    """Appends records as JSON lines. A line that could not be written whole is taken back.

    Only one may write it at a time, so it notices when the file has grown by other hands.
    """

    def __init__(self, path: Path):
        self.path = path
        with explained(path):
            self._descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            self._length = os.fstat(self._descriptor).st_size

    def append(self, record: dict[str, Any]) -> None:
        data = json.dumps(record, allow_nan=False).encode() + b"\n"
        with explained(self.path):
            if os.fstat(self._descriptor).st_size != self._length:
                raise Damaged(f"{self.path} was written by somebody else, too; stop all others, and go on")
            try:
                write_all(self._descriptor, data)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(self._descriptor, self._length)
                raise
            self._length += len(data)

    def sync(self) -> None:
        """Whatever was appended so far outlives a loss of power."""
        with explained(self.path):
            os.fsync(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


class Line(NamedTuple):
    """One line of a journal as it was found."""

    number: int
    data: bytes
    record: dict[str, Any] | None  # None if it cannot be read


def read_journal(path: Path) -> bytes:
    """A journal as it lies there."""
    return read_bytes(path, MOST_BYTES)


def read_lines(path: Path) -> Iterator[Line]:
    """All lines of a journal; there are none if there is no file."""
    if not path.exists():
        return
    for number, data in enumerate(read_journal(path).splitlines(keepends=True), 1):
        yield Line(number, data, _record(data))


def _record(data: bytes) -> dict[str, Any] | None:
    """What a line says. A line without its end was being written when the process died."""
    if not data.endswith(b"\n"):
        return None
    try:
        record = from_json(data)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
