"""Ctrl-C and SIGTERM: the first asks to stop at the next good moment, the second leaves at once.

A program that compiles knows no good moment for a long time. So the first leaves at once, too, where nothing is lost.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """Someone asked to stop, and now is a good moment."""

    def __init__(self, signal_number: int):
        super().__init__(signal.Signals(signal_number).name)
        self.status: int = 128 + signal_number


@dataclass
class Interruption:
    """Whether someone asked to stop."""

    signal: int | None = None
    farewell: Callable[[Interrupted], None] | None = None  # what is still to do when nothing is lost by leaving now

    @contextmanager
    def nothing_to_lose(self, farewell: Callable[[Interrupted], None] | None) -> Iterator[None]:
        """Within it whoever asks to stop need not wait: after the farewell the process ends, if there is one."""
        self.farewell = farewell
        self.heed()
        try:
            yield
        finally:
            self.farewell = None
        self.heed()

    def heed(self) -> None:
        """Stop here if someone asked to."""
        if self.signal is not None:
            raise Interrupted(self.signal)


@contextmanager
def listening(say: Callable[[str], None]) -> Iterator[Interruption]:
    """Within it signals do not break in; they are noted, and whoever works looks at the note between two chunks.

    A compiled program may keep Python from handling a signal for a long time. So the system writes the number of each
    signal to a socket, and a thread beside the work reads it there.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption  # only the main thread hears signals
        return
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # as a background job
    before = {number: signal.signal(number, lambda *_: None) for number in heard}
    before_wakeup = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=_listen, args=(reading, interruption, say), daemon=True)
    thread.start()
    try:
        yield interruption
    finally:
        signal.set_wakeup_fd(before_wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        writing.close()
        thread.join()
        reading.close()


def _listen(reading: socket.socket, interruption: Interruption, say: Callable[[str], None]) -> None:
    while numbers := reading.recv(1):
        number = numbers[0]
        if number not in SIGNALS:
            continue
        if interruption.signal is not None:
            _leave(number)
        interruption.signal = number
        farewell = interruption.farewell
        if farewell is not None:
            _beside(partial(farewell, Interrupted(number))).join(timeout=10)  # nobody may be reading what it tells
            _leave(number)
        _beside(lambda: say("Stopping after this chunk of work; once more to leave at once."))


def _leave(number: int) -> None:
    """Files are whole at every moment, so there is nothing to tidy up but the terminal's cursor."""
    _beside(_show_cursor).join(timeout=1)
    os._exit(128 + number)


def _show_cursor() -> None:
    with suppress(OSError, ValueError, AttributeError):  # of a terminal that is closed, or was never there
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\x1b[?25h\n")


def _beside(action: Callable[[], None]) -> threading.Thread:
    """Do it in a thread of its own: who listens for signals must not wait until somebody reads what is told."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    return thread
