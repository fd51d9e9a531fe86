"""Telling a person how far something is: a bar with the time left on a terminal, plain lines elsewhere, or silence."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Protocol, runtime_checkable

Advance = Callable[..., None]
"""Called once for each piece of work done, with the few numbers that matter as keywords."""


@runtime_checkable
class Progress(Protocol):
    """Whoever is told."""

    def stage(self, name: str, total: int) -> AbstractContextManager[Advance]:
        """A piece of work of `total` parts; within it, each call of what it yields is one part done."""
        ...


class Silent:
    """Tells nobody."""

    @contextmanager
    def stage(self, name: str, total: int) -> Iterator[Advance]:
        del name, total
        yield lambda **numbers: None


class Lines:
    """A line now and then, for logs."""

    def __init__(self, seconds_between: float = 15.0, write: Callable[[str], None] | None = None):
        self.seconds_between = seconds_between
        self.write = write or partial(print, file=sys.stderr, flush=True)

    @contextmanager
    def stage(self, name: str, total: int) -> Iterator[Advance]:
        began = last = time.monotonic()
        done = 0

        def advance(**numbers: float) -> None:
            nonlocal done, last
            done += 1
            now = time.monotonic()
            if done == total or now - last >= self.seconds_between:
                last = now
                left = (now - began) / done * (total - done)
                self.write(f"{name}: {done}/{total}, {left:.0f} s left{_listed(numbers)}")

        yield advance


class Bars:
    """A live bar a stage."""

    @contextmanager
    def stage(self, name: str, total: int) -> Iterator[Advance]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description:<32}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[numbers]}"),
        )
        with RichProgress(*columns, console=Console(stderr=True)) as bars:
            task = bars.add_task(name, total=total, numbers="")
            yield lambda **numbers: bars.update(task, advance=1, numbers=_listed(numbers))


def _listed(numbers: dict[str, float]) -> str:
    return "".join(f"  {name} {value:.4g}" for name, value in numbers.items())


def for_terminal(quiet: bool = False) -> Progress:
    """What suits where the output goes."""
    from rich.console import Console

    if quiet:
        return Silent()
    return Bars() if Console(stderr=True).is_terminal else Lines()
