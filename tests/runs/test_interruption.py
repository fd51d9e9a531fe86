"""Who asks to stop waits for a good moment, and for none where there is nothing to lose."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from coadapt.runs import interruption
from coadapt.runs.interruption import Interrupted, listening


@pytest.fixture
def left(monkeypatch):
    """The signals for which the process would have ended; `wait` waits until there is one."""
    numbers, ended = [], threading.Event()
    monkeypatch.setattr(interruption, "_leave", lambda number: (numbers.append(number), ended.set()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what is started in the background
    yield numbers, ended
    signal.signal(signal.SIGINT, before)


def asked(number: int, answered: threading.Event) -> None:
    os.kill(os.getpid(), number)
    answered.wait()  # a test that waits for ever is ended by `tests.guard`


def test_the_first_signal_is_noted_and_the_second_ends_the_process(left):
    numbers, ended = left
    said = threading.Event()
    with listening(lambda text: said.set()) as note:
        note.heed()
        asked(signal.SIGTERM, said)
        assert (note.signal, numbers) == (signal.SIGTERM, [])
        with pytest.raises(Interrupted):
            note.heed()
        asked(signal.SIGINT, ended)
    assert numbers == [signal.SIGINT]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_where_nothing_is_lost_the_first_one_ends_it_after_a_farewell(left, number):
    numbers, ended = left
    farewells, said = [], []
    say_farewell = lambda why: farewells.append((why.status, *numbers))
    with listening(said.append) as note, pytest.raises(Interrupted), note.nothing_to_lose(say_farewell):
        asked(number, ended)
    assert (farewells, numbers) == ([(128 + number,)], [number])


def test_without_a_farewell_it_is_heeded_as_soon_as_that_is_over(left):
    numbers, _ = left
    said = threading.Event()
    with listening(lambda text: said.set()) as note, pytest.raises(Interrupted), note.nothing_to_lose(None):
        asked(signal.SIGTERM, said)
    assert numbers == []


def test_who_has_asked_before_need_not_wait_for_it(left):
    said, inside = threading.Event(), []
    with listening(lambda text: said.set()) as note:
        asked(signal.SIGTERM, said)
        with pytest.raises(Interrupted), note.nothing_to_lose(lambda why: None):
            inside.append(note)
    assert not inside


LISTEN = """
import os, sys, time
from coadapt.runs.interruption import listening
from coadapt.runs.progress import to_stderr

{before}
with listening({say}) as interruption:
    os.write(1, b"ready\\n")
    while interruption.signal is None:
        time.sleep(0.001)
    os.write(1, b"heard\\n")
    while True:
        time.sleep(1)
"""
WAYS = {
    "stderr is there": ("", "to_stderr"),
    "stderr was closed before": ("os.close(2); sys.stderr = None", "to_stderr"),
    "stderr was closed by us": ("sys.stderr.close()", "to_stderr"),
    "whoever is told never answers": ("", "lambda text: time.sleep(1e6)"),
    "whoever is told falls over": ("", "lambda text: 1 / 0"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_second_signal_leaves_at_once(way):
    before, say = WAYS[way]
    command = [sys.executable, "-c", LISTEN.format(before=before, say=say)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            for word in (b"ready\n", b"heard\n"):
                assert process.stdout.readline() == word
                process.terminate()
            assert process.wait() == 128 + signal.SIGTERM
        finally:
            process.kill()
