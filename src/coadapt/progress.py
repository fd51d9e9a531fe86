"""Telling a person how far something is: a bar with the time left on a terminal, plain lines elsewhere, or silence."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol, runtime_checkable


@runtime_checkable
class Advance(Protocol):
    """Called whenever some of the work is done, with the few numbers that matter."""

    def __call__(self, parts: int = 1, **numbers: float) -> None: ...


@runtime_checkable
class Progress(Protocol):
    """Whoever is told."""

    def stage(self, name: str, total: int, done: int = 0, steps: int = 0) -> AbstractContextManager[Advance]:
        """A piece of work of `total` parts, of which some may be done; each part is so many environment steps."""
        ...

    def say(self, text: str) -> None:
        """Something that happened."""
        ...


class Silent:
    """Tells nobody."""

    @contextmanager
    def stage(self, name: str, total: int, done: int = 0, steps: int = 0) -> Iterator[Advance]:
        del name, total, done, steps
        yield lambda parts=1, **numbers: None

    def say(self, text: str) -> None:
        del text


class Lines:
    """A line now and then, for logs."""

    def __init__(self, seconds_between: float = 15.0, write: Callable[[str], None] | None = None):
        self.seconds_between = seconds_between
        self.write = write or _to_stderr

    def say(self, text: str) -> None:
        self.write(text)

    @contextmanager
    def stage(self, name: str, total: int, done: int = 0, steps: int = 0) -> Iterator[Advance]:
        began = last = time.monotonic()
        start = done

        def advance(parts: int = 1, **numbers: float) -> None:
            nonlocal done, last
            done += parts
            now = time.monotonic()
            if done == total or now - last >= self.seconds_between:
                last = now
                pace = (done - start) / max(now - began, 1e-9)
                speed = f", {_rate(pace * steps)}" if steps else ""
                self.say(f"{name}: {done}/{total}{speed}, {(total - done) / pace:.0f} s left{_listed(numbers)}")

        yield advance


class Bars:
    """A live bar a stage; what is finished stays above it."""

    def __init__(self):
        from rich.console import Console

        self.console = Console(stderr=True)

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False)

    @contextmanager
    def stage(self, name: str, total: int, done: int = 0, steps: int = 0) -> Iterator[Advance]:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description:<20}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[numbers]}"),
        )
        began = time.monotonic()
        with RichProgress(*columns, console=self.console) as bars:
            task = bars.add_task(name, total=total, completed=done, numbers="", speed="")
            start = done

            def advance(parts: int = 1, **numbers: float) -> None:
                nonlocal done
                done += parts
                pace = (done - start) / max(time.monotonic() - began, 1e-9)
                speed = _rate(pace * steps) if steps else ""
                bars.update(task, completed=done, speed=speed, numbers=_listed(numbers))

            yield advance


def _to_stderr(text: str) -> None:
    """To whoever is still listening: that nobody is left is no reason to stop working."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _rate(steps_a_second: float) -> str:
    return f"{steps_a_second:,.0f} steps/s"


def _listed(numbers: dict[str, float]) -> str:
    return "".join(f"  {name} {value:.4g}" for name, value in numbers.items())


def for_terminal(quiet: bool = False) -> Progress:
    """What suits where the output goes."""
    from rich.console import Console

    if quiet:
        return Silent()
    return Bars() if Console(stderr=True).is_terminal else Lines()
