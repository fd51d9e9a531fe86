"""JSON that knows when it was changed: a checksum of everything in the file is part of it."""

import hashlib
from pathlib import Path
from typing import Any

from coadapt.storage.files import Damaged, json_text, parse_json, read_bytes, write_text

SEAL = "seal"


def checksum(data: bytes) -> str:
    """How one tells that bytes are the same."""
    return hashlib.sha256(data).hexdigest()


def write_sealed(path: Path, data: dict[str, Any]) -> None:
    """Write the data with a seal on it."""
    write_text(path, json_text(data | {SEAL: checksum(json_text(data).encode())}))


def read_sealed(path: Path) -> dict[str, Any]:
    """Read sealed data; if a single character of the file is another one, it is damaged."""
    written = read_bytes(path)
    data = parse_json(path, written)
    if not isinstance(data, dict) or SEAL not in data:
        raise Damaged(f"{path} has no seal: it was cut short or was not written by coadapt")
    content = {name: value for name, value in data.items() if name != SEAL}
    sealed_again = content | {SEAL: checksum(json_text(content).encode())}
    if written != json_text(sealed_again).encode():
        raise Damaged(f"{path} was changed after it was written: its seal is broken")
    return content
