"""Who asks to stop waits for a good moment, and for none where there is nothing to lose."""

import os
import signal
import threading

import pytest

from coadapt import interruption
from coadapt.interruption import Interrupted, listening


@pytest.fixture
def left(monkeypatch):
    """The signals for which the process would have ended; `wait` waits until there is one."""
    numbers, ended = [], threading.Event()
    monkeypatch.setattr(interruption, "_leave", lambda number: (numbers.append(number), ended.set()))
    return numbers, ended


def asked(number: int, answered: threading.Event) -> None:
    os.kill(os.getpid(), number)
    assert answered.wait(timeout=300)


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
