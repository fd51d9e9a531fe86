"""How the command answers when something is not as it should be: one sentence and an exit status, no traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MISTAKE = 2
"""The exit status for what the person can mend by asking for something else."""
FAILURE = 1
"""The exit status for what went wrong on the way."""
INTERRUPTED = 130
"""The exit status after Ctrl-C."""


@contextmanager
def answered() -> Iterator[None]:
    """Within it Ctrl-C is no news."""
    try:
        yield
    except KeyboardInterrupt:
        raise _leave("interrupted", INTERRUPTED) from None
    except BrokenPipeError:  # whoever reads our output has seen enough
        sys.stderr.close()
        raise SystemExit(FAILURE) from None


@contextmanager
def mistakes_explained() -> Iterator[None]:
    """Within it a ValueError is the person's mistake, and so is asking for files that do not fit."""
    from coadapt.storage.files import StorageError

    try:
        yield
    except (ValueError, StorageError) as mistake:
        raise _leave(str(mistake), MISTAKE) from None


@contextmanager
def stops_explained(folder: Path) -> Iterator[None]:
    """Within it a run may stop for good reasons; the person is told them, and how to go on."""
    from coadapt.experiments.working import Diverged
    from coadapt.interruption import Interrupted
    from coadapt.memory import DoesNotFit
    from coadapt.storage.files import CannotWrite, StorageError

    go_on = f"coadapt resume {folder}"
    try:
        yield
    except Interrupted as stop:
        raise _leave(stopped(folder), stop.status, end="") from None
    except Diverged as stop:
        raise _leave(
            f"{stop}; go on under other settings with: {go_on} --fork --set FIELD=VALUE", FAILURE, ""
        ) from None
    except CannotWrite as stop:
        raise _leave(
            f"{stop}; what was stored before is whole; when there is room, go on with: {go_on}", FAILURE, ""
        ) from None
    except (DoesNotFit, StorageError) as stop:
        raise _leave(str(stop), MISTAKE) from None


def stopped(folder: Path) -> str:
    """What is said when someone has asked a run to stop."""
    return f"stopped, and nothing is lost; go on with: coadapt resume {folder}"


def say(sentence: str, end: str = ".") -> None:
    """A sentence of the command's own."""
    print(f"coadapt: {sentence}{end}", file=sys.stderr, flush=True)


def _leave(sentence: str, status: int, end: str = ".") -> SystemExit:
    say(sentence, end)
    return SystemExit(status)
