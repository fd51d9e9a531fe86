"""How much memory is free, and a refusal of what would not fit into it."""

import os
import sys
from pathlib import Path

CONTAINER = "/sys/fs/cgroup/memory"


class DoesNotFit(ValueError):
    """Something is larger than the memory."""


def check_memory(what: str, needed: int, remedy: str) -> None:
    """Refuse what needs more bytes than are free, and say what to do about it."""
    there = free_memory()
    if needed > there:
        most = f"more than the {bytes_in_words(there)} that are free"
        raise DoesNotFit(f"about {bytes_in_words(needed)} are needed for {what}, {most}; {remedy}")


def free_memory() -> int:
    """What could be had, as the system tells it: all there is where it does not tell, and no more than its share."""
    everything = all_memory()
    told = {name: int(value) * 1024 for name, value, *_ in map(str.split, _lines("/proc/meminfo"))}
    return min(told.get("MemAvailable:", everything), _share_of_container(everything))


def all_memory() -> int:
    """Bytes of memory that this machine has. Windows does not tell in this way: there nothing is too large."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else sys.maxsize


def _share_of_container(everything: int) -> int:
    """What a container may still take. Files that were read and can be forgotten again count as used, and are not."""
    (most, *_), (used, *_) = (_lines(f"{CONTAINER}.{name}") or ["max"] for name in ("max", "current"))
    if "max" in (most, used):
        return everything
    kept = dict(line.split() for line in _lines(f"{CONTAINER}.stat"))
    return int(most) - int(used) + int(kept.get("inactive_file", 0))


def _lines(file: str) -> list[str]:
    path = Path(file)
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def bytes_in_words(size: float) -> str:
    """A number of bytes as people say it."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.0e} PB"
