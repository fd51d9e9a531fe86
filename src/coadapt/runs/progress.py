"""Telling a person how far something is: a bar with the time left on a terminal, plain lines elsewhere, or silence."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Protocol, TextIO, cast

from coadapt.printable import printable


class Advance(Protocol):
    """Called whenever some of the work is done, with the few numbers that matter."""

    def __call__(self, parts: int = 1, **numbers: float) -> None: ...


class Progress:
    """Who is told how far something is. This one tells nobody."""

    @contextmanager
    def stage(self, name: str, total: int, done: int = 0, steps: int = 0, first: str = "starting") -> Iterator[Advance]:
        """A piece of work of `total` parts, of which some may be done; each part is so many environment steps.

        Until the first part is done, `first` says what keeps one waiting, such as compiling.
        """
        del name, total, done, steps, first
        yield lambda parts=1, **numbers: None

    def busy(self, what: str) -> AbstractContextManager[None]:
        """Something that may take a while and has no parts."""
        del what
        return nullcontext()

    def say(self, text: str) -> None:
        """Something that happened."""


class Lines(Progress):
    """A line now and then, for logs. While something is under way, there is no long silence."""

    def __init__(
        self, seconds_between: float = 8.0, write: Callable[[str], None] | None = None, longest_silence: float = 10.0
    ):
        self.seconds_between: float = seconds_between
        self.longest_silence: float = longest_silence
        self.write: Callable[[str], None] = write or to_stderr
        self.said: float = time.monotonic()

    def say(self, text: str) -> None:
        self.said = time.monotonic()
        self.write(text)

    def busy(self, what: str) -> AbstractContextManager[None]:
        return self._heard_of(lambda: what)

    @contextmanager
    def _heard_of(self, doing: Callable[[], str]) -> Iterator[None]:
        """Within it a thread says what is being done, and for how long, whenever nothing else was said for long."""
        over, began = threading.Event(), time.monotonic()

        def beat() -> None:
            while not over.wait(max(0.0, self.said + self.longest_silence - time.monotonic())):
                if (now := time.monotonic()) - self.said >= self.longest_silence:
                    self.say(f"{doing()}, {now - began:.0f} s so far")

        self.said = began
        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    @contextmanager
    def stage(self, name: str, total: int, done: int = 0, steps: int = 0, first: str = "starting") -> Iterator[Advance]:
        self.say(f"{name}: {first}")
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

        with self._heard_of(lambda: f"{name}: {first if done == start else f'{done}/{total}'}"):
            yield advance


class Bars(Progress):
    """A live bar a stage; what is finished stays above it."""

    def __init__(self):
        from rich.console import Console

        self.console: Console = Console(file=cast(TextIO, Listener(sys.stderr)))

    def say(self, text: str) -> None:
        self.console.print(printable(text), markup=False, highlight=False)

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        with self.console.status(what):
            yield

    @contextmanager
    def stage(self, name: str, total: int, done: int = 0, steps: int = 0, first: str = "starting") -> Iterator[Advance]:
        from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        name_and_bar = "{task.description:<20}", BarColumn(bar_width=24), MofNCompleteColumn(), "{task.fields[speed]}"
        columns = *name_and_bar, TimeElapsedColumn(), "left", TimeRemainingColumn(), "{task.fields[numbers]}"
        began = time.monotonic()
        with RichProgress(*columns, console=self.console) as bars:
            task = bars.add_task(name, total=total, completed=done, numbers=first, speed="")
            start = done

            def advance(parts: int = 1, **numbers: float) -> None:
                nonlocal done
                done += parts
                pace = (done - start) / max(time.monotonic() - began, 1e-9)
                speed = _rate(pace * steps) if steps else ""
                bars.update(task, completed=done, speed=speed, numbers=_listed(numbers))

            yield advance


class Listener:
    """A stream that somebody may have stopped listening to, as to a terminal that was closed: no reason to stop."""

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
            give_up(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def to_stderr(text: str) -> None:
    """To whoever is still listening."""
    if sys.stderr is not None:  # it is None where it was closed before we came
        print(printable(text), file=Listener(sys.stderr), flush=True)


def keep_streams_open() -> None:
    """Let nobody listen where a stream was closed before we came, or the next file to be opened takes its place."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            let_nobody_listen(descriptor)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))


def give_up(stream: Any) -> None:
    """What is still to be written to a stream goes nowhere, or Python would try again at its end, and fail."""
    with suppress(OSError, ValueError, AttributeError):  # a stream that has no descriptor, or is none
        let_nobody_listen(stream.fileno())


def let_nobody_listen(descriptor: int) -> None:
    """Whatever is still written there goes nowhere, and is no error when Python ends."""
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
        return Progress()
    from rich.console import Console

    console = Console(stderr=True)
    return Bars() if console.is_terminal and not console.is_dumb_terminal else Lines()
