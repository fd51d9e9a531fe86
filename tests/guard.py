"""A test that hangs is ended, with all that it has started; one that is slow because the machine is busy is not."""

import faulthandler
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchmarks.patience import descendants, waits

LONGEST = 900.0
"""Seconds, as `benchmarks.patience` counts them, for a test and the fixtures that it is the first to want."""

_now: list[pytest.Item] = []
"""The test that is being made, behind those before it."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    _now.append(item)
    if len(_now) == 1:
        threading.Thread(target=_watch, daemon=True).start()
    return (yield)


def _watch() -> None:
    while True:
        tests = len(_now)
        for seconds in waits(os.getpid(), LONGEST):
            time.sleep(seconds)
            if len(_now) > tests:
                break
        else:
            _end(_now[-1])


def _end(item: pytest.Item) -> None:
    """Nothing else would reach a thread that is within a compiler or waits for somebody who never comes."""
    capture: Any = item.config.pluginmanager.getplugin("capturemanager")
    capture.suspend_global_capture(in_=True)
    print(f"\n{item.nodeid} hangs: {LONGEST:g} seconds of work, or of doing nothing. It is here:", file=sys.stderr)
    faulthandler.dump_traceback()
    for process in descendants(os.getpid()):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    os._exit(1)


def wait_until_ended(process: int) -> None:
    """For a process that is not ours to wait for. One that has ended and is only not yet cleared away has ended."""
    with suppress(OSError):
        while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.01)
