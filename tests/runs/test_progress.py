import os
import re
import subprocess
import sys
import time
from queue import Queue

import pytest

from coadapt.runs.progress import Bars, Lines, Progress, for_terminal

NEVER = 1e6
"""Seconds."""


def test_lines_tell_how_far_it_is_and_what_matters():
    lines = []
    with Lines(0, lines.append, longest_silence=NEVER).stage("training", 2, first="compiling") as advance:
        advance(loss=0.25)
        advance(loss=0.125)
    assert [line.split(",")[0] for line in lines] == ["training: compiling", "training: 1/2", "training: 2/2"]
    assert lines[2].endswith("0 s left  loss 0.125")


def test_lines_are_rare_but_the_last_is_always_told():
    lines = []
    with Lines(NEVER, lines.append, longest_silence=NEVER).stage("training", 3) as advance:
        for _ in range(3):
            advance()
    assert lines == ["training: starting", "training: 3/3, 0 s left"]


def test_whatever_takes_long_is_heard_of():
    """However slow the machine is: the test waits until something was said."""
    said = Queue()
    lines = Lines(NEVER, said.put, longest_silence=0.001)
    with lines.busy("planning"):
        assert [said.get().split(",")[0] for _ in range(2)] == ["planning", "planning"]
    said = Queue()
    lines.write = said.put
    with lines.stage("training", 3, first="compiling") as advance:
        heard = [said.get() for _ in range(2)]
        assert heard[0] == "training: compiling"
        assert re.fullmatch(r"training: compiling, \d+ s so far", heard[1])
        advance()
        while not said.get().startswith("training: 1/3, "):
            pass
    while not said.empty():
        said.get()
    time.sleep(0.01)
    assert said.empty(), "when it is over there is nothing to say"


def test_a_line_is_a_sign_of_life():
    """After one nothing is said until it has been silent again for as long as may be."""
    said = []
    lines = Lines(NEVER, said.append, longest_silence=NEVER)
    with lines.busy("planning"):
        lines.say("something")
    assert said == ["something"]


def test_without_a_terminal_there_are_lines_and_quiet_is_quiet():
    assert isinstance(for_terminal(), Lines)
    assert type(for_terminal(quiet=True)) is Progress


def test_a_bar_on_a_terminal_shows_the_time_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with for_terminal().stage("training", 2, first="compiling") as advance:
        assert "compiling" in capsys.readouterr().err
        advance(loss=0.25)
        advance(loss=0.125)
    shown = capsys.readouterr().err
    assert "training" in shown
    assert "left" in shown


def test_that_nobody_listens_any_more_is_no_reason_to_stop(monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    progress = Lines(seconds_between=0)
    progress.say("hello")
    with progress.stage("training", 2) as advance:
        advance()


def test_a_stage_that_goes_on_counts_from_where_it_was_and_tells_its_speed():
    lines = []
    lasting = Lines(0, lines.append, longest_silence=NEVER)
    with lasting.stage("training", 100, done=50, steps=10) as advance:
        advance(25, loss=0.5)
    assert lines[1].startswith("training: 75/100, ")
    assert " steps/s, " in lines[1]
    assert lines[1].endswith(" s left  loss 0.5")


def test_a_terminal_that_is_closed_does_not_stop_what_is_shown_there(monkeypatch):
    window, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        progress = for_terminal()
        assert isinstance(progress, Bars)
        with progress.stage("training", 3) as advance:
            advance(loss=0.5)
            os.close(window)
            with pytest.raises(OSError, match="Input/output error"):  # this is what writing there comes to
                os.write(terminal, b"?")
            progress.say("nobody hears this")
            advance(loss=0.25)
        with progress.stage("evaluation", 1) as advance:
            advance()


def test_what_is_told_to_nobody_does_not_go_elsewhere(monkeypatch, capsys):
    """Python has no standard error where it was closed before, and `print` would take standard output instead."""
    monkeypatch.setattr(sys, "stderr", None)
    progress = for_terminal()
    progress.say("hello")
    with progress.stage("training", 1) as advance:
        advance()
    assert capsys.readouterr().out == ""


CLOSED = """
import os, sys
from coadapt.runs.progress import keep_streams_open, to_stderr
keep_streams_open()
file = os.open("file", os.O_WRONLY | os.O_CREAT)
for descriptor in (0, 1, 2):
    assert descriptor != file
os.write(2, b"a warning of a library")
print("a result")
to_stderr("a sentence")
sys.stderr.write("more")
assert os.path.getsize("file") == 0
sys.exit(3)
"""


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_no_file_takes_the_place_of_a_stream_that_was_closed(tmp_path, closed):
    command = f"exec {sys.executable} -W error -c '{CLOSED}' {closed}"
    answer = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert answer.returncode == 3, answer.stderr
