"""How long to wait for a process, on a machine that may be busy with something else.

A clock on the wall says nothing of whether a process hangs: it may be at work and hardly ever have its turn. So what
counts is the processor time that it uses; and where it uses none, it waits for something that may never come, and then
all of the time counts.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LOOK_EVERY = 10.0
"""Seconds. Long enough that whoever wants a processor has had one for a moment."""

IDLE = 0.01
"""Of a processor: who uses less is not at work."""

PROCESSES = Path("/proc")


class Used(NamedTuple):
    """By one process: who started it, and the processor seconds of it and of those it has started that have ended."""

    parent: int
    seconds: float


def waits(process: int, longest: float) -> Iterator[float]:
    """How many seconds to wait before one asks again; it ends when so many have counted."""
    counted, used, looked = 0.0, processor_seconds(process), time.monotonic()
    while counted < longest:
        yield min(LOOK_EVERY, longest)
        used_before, looked_before = used, looked
        used, looked = processor_seconds(process), time.monotonic()
        worked, passed = used - used_before, looked - looked_before
        counted += min(worked, passed) if worked >= IDLE * passed else passed


def processor_seconds(process: int) -> float:
    """All that a process and those it has started have used. Nothing where the system does not tell."""
    table = _table()
    return sum(table[each].seconds for each in (process, *descendants(process, table)) if each in table)


def descendants(process: int, table: dict[int, Used] | None = None) -> list[int]:
    """Those a process has started, and those that these have started, as far as the system tells."""
    table = _table() if table is None else table
    children = [each for each, used in table.items() if used.parent == process]
    return [*children, *(each for child in children for each in descendants(child, table))]


def _table() -> dict[int, Used]:
    """All processes, by number."""
    numbers = [int(folder.name) for folder in PROCESSES.glob("[0-9]*")]
    found = {number: _used(number) for number in numbers}
    return {number: used for number, used in found.items() if used is not None}


def _used(process: int) -> Used | None:
    try:
        text = (PROCESSES / str(process) / "stat").read_text()
    except OSError:  # it has ended
        return None
    # A program's name stands in parentheses and may contain anything. The state comes next, then these.
    after_name = text.rpartition(")")[2].split()
    ticks = sum(map(int, after_name[11:15]))  # its own and its children's, in user mode and in the kernel
    return Used(int(after_name[1]), ticks / os.sysconf("SC_CLK_TCK"))
