"""How the command answers when something is not as it should be: one sentence and an exit status, no traceback."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from coadapt.memory import DoesNotFit
from coadapt.printable import printable
from coadapt.runs.interruption import Interrupted, listening
from coadapt.runs.progress import Lines, Progress, give_up, keep_streams_open, to_stderr
from coadapt.storage.files import CannotWrite, StorageError

FAILURE, MISTAKE, INTERRUPTED = 1, 2, 130
"""Exit statuses: for what went wrong, for what the person can mend by asking for something else, and after Ctrl-C."""


def answer(to: Callable[[Sequence[str]], None], arguments: Sequence[str] | None = None) -> None:
    """Hand these arguments, or those of the command line, to whoever answers them."""
    given = sys.argv[1:] if arguments is None else arguments
    with answered():
        with mistakes_explained():
            if "" in given:
                raise ValueError("one of the arguments is empty; leave it out, or say what you mean")
        to(given)


@contextmanager
def answered() -> Iterator[None]:
    """Within it Ctrl-C is no news, and an answer that cannot be written is told of."""
    keep_streams_open()
    _never_fail_to_encode()
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # if that fails it fails here, and not when Python ends
    except KeyboardInterrupt:
        raise _leave("interrupted", INTERRUPTED) from None
    except BrokenPipeError:  # whoever reads our output has seen enough
        give_up(sys.stdout)
        raise SystemExit(FAILURE) from None
    except OSError as problem:
        give_up(sys.stdout)
        raise _leave(_in_a_sentence(problem), FAILURE) from None
    except (RuntimeError, MemoryError) as problem:
        first_line = str(problem).partition("\n")[0]
        if not isinstance(problem, MemoryError) and "RESOURCE_EXHAUSTED" not in first_line:
            raise
        reason = first_line or "it is used up"
        raise _leave(f"the memory is not enough ({reason}); what was stored before is whole", FAILURE) from None


def _never_fail_to_encode() -> None:
    """What the terminal's encoding does not know is shown by its number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def tell(text: str) -> None:
    """A line of the answer."""
    print(printable(text))


def announce(what: str, quiet: bool = False) -> None:
    """The first sign of life, for loading JAX takes a while."""
    if not quiet and "jax" not in sys.modules:
        Lines().say(f"{what}: loading JAX")
    _check_device()


def _check_device() -> None:
    """Refuse a device that is asked for and not there, before it is missed in the middle of something."""
    asked = os.environ.get("JAX_PLATFORMS")
    if not asked:
        return
    import jax

    try:
        jax.devices()
    except Exception as problem:  # each kind of device has its own
        reason = str(problem).partition("\n")[0] or "it is not there"
        sentence = f"JAX cannot compute on JAX_PLATFORMS={asked} ({reason}); unset it, or mend that"
        raise _leave(sentence, MISTAKE) from None


@contextmanager
def mistakes_explained() -> Iterator[None]:
    """Within it a ValueError is the person's mistake, and so is asking for files that do not fit or cannot be read."""
    try:
        yield
    except (ValueError, StorageError) as mistake:
        raise _leave(str(mistake), MISTAKE) from None
    except OSError as problem:
        if problem.filename is None:  # it is about our own output
            raise
        raise _leave(_in_a_sentence(problem), MISTAKE) from None


@contextmanager
def stops_explained(folder: Path) -> Iterator[None]:
    """Within it a run may stop for good reasons; the person is told them, and how to go on."""
    from coadapt.runs.executor import Diverged

    go_on = f"coadapt resume {folder}"
    try:
        yield
    except Interrupted as stop:
        say_stopped(folder)
        raise SystemExit(stop.status) from None
    except Diverged as stop:
        advice = "go on from a checkpoint in a new run with: --init-from CHECKPOINT --set FIELD=VALUE"
        raise _leave(f"{stop}; {advice}", FAILURE, "") from None
    except CannotWrite as stop:
        advice = f"what was stored before is whole; when there is room, go on with: {go_on}"
        raise _leave(f"{stop}; {advice}", FAILURE, "") from None
    except (DoesNotFit, StorageError) as stop:
        raise _leave(str(stop), MISTAKE) from None


@contextmanager
def nothing_begun(progress: Progress) -> Iterator[None]:
    """Within it nothing is written yet, so that whoever asks to stop need not wait."""
    farewell = lambda why: say("stopped before anything was begun")
    try:
        with listening(progress.say) as interruption, interruption.nothing_to_lose(farewell):
            yield
    except Interrupted as stop:
        raise SystemExit(stop.status) from None


def say_stopped(folder: Path) -> None:
    """What is said when someone has asked a run to stop."""
    say(f"stopped, and nothing is lost; go on with: coadapt resume {folder}", end="")


def say(sentence: str, end: str = ".") -> None:
    """A sentence of the command's own."""
    to_stderr(f"coadapt: {sentence}{end}")


def _in_a_sentence(problem: OSError) -> str:
    reason = problem.strerror or str(problem)
    return f"cannot write the answer: {reason}" if problem.filename is None else f"{problem.filename}: {reason}"


def _leave(sentence: str, status: int, end: str = ".") -> SystemExit:
    say(sentence, end)
    return SystemExit(status)
