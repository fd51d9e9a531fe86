"""Telling a person how far something is: a bar with the time left on a terminal, plain lines elsewhere, or silence."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Protocol, TextIO, cast, runtime_checkable


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
        self.write = write or tell

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

        self.console = Console(file=cast(TextIO, Listener(sys.stderr)))

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


class Listener:
    """A stream that somebody may have stopped listening to, such as a terminal that was closed.

    That nobody is left is no reason to stop working.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        with self._perhaps():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._perhaps():
            self._stream.flush()

    @contextmanager
    def _perhaps(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            pass  # whoever listens is slow
        except (OSError, ValueError):  # ValueError: it was closed on our side
            with suppress(OSError, ValueError, AttributeError):
                _let_nobody_listen(self._stream.fileno())  # or what is left unsaid would be an error when Python ends

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def tell(text: str) -> None:
    """To whoever is still listening."""
    if sys.stderr is not None:  # it is None where it was closed before we came
        print(text, file=Listener(sys.stderr), flush=True)


def keep_streams_open() -> None:
    """Let nobody listen where input, output or errors were closed before we came.

    Otherwise the next file to be opened would take the place of the stream, and whatever a library has to tell would
    be written into that file.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            _let_nobody_listen(descriptor)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", closefd=False))


def _let_nobody_listen(descriptor: int) -> None:
    nobody = os.open(os.devnull, os.O_RDWR)
    if nobody != descriptor:
        os.dup2(nobody, descriptor)
        os.close(nobody)


def _rate(steps_a_second: float) -> str:
    return f"{steps_a_second:,.0f} steps/s"


def _listed(numbers: dict[str, float]) -> str:
    return "".join(f"  {name} {value:.4g}" for name, value in numbers.items())


def for_terminal(quiet: bool = False) -> Progress:
    """What suits where the output goes."""
    if quiet:
        return Silent()
    from rich.console import Console

    return Bars() if Console(stderr=True).is_terminal else Lines()
