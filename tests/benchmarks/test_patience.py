"""What counts while one waits for a process: its work, or the time if it does none."""

import os
import subprocess
import sys
import time
from itertools import islice

import pytest

from benchmarks import patience
from benchmarks.patience import PROCESSES, descendants, processor_seconds, waits

needs_a_table_of_processes = pytest.mark.skipif(not PROCESSES.exists(), reason="this system tells nothing of processes")


@pytest.fixture
def waited(monkeypatch):
    """The time that is waited on a machine where a process uses so many processor seconds a second."""

    def simulate(work, longest):
        passed = [0.0]
        monkeypatch.setattr(patience.time, "monotonic", lambda: passed[0])
        monkeypatch.setattr(patience, "processor_seconds", lambda process: work * passed[0])
        for seconds in islice(waits(7, longest), 1_000):  # who would wait for ever is seen, too
            passed[0] += seconds
        return passed[0]

    return simulate


def test_work_counts(waited):
    assert waited(work=1.0, longest=120.0) == 120


def test_who_has_many_processors_has_no_less_time(waited):
    assert waited(work=2.0, longest=120.0) == 120


def test_waiting_for_a_busy_processor_does_not_count(waited):
    assert waited(work=0.25, longest=120.0) == 480


def test_who_does_nothing_is_not_waited_for_any_longer(waited):
    assert waited(work=0.0, longest=120.0) == 120
    assert waited(work=0.001, longest=120.0) == 120


def test_a_short_while_is_no_longer_than_that(waited):
    assert waited(work=0.0, longest=0.5) == 0.5


@needs_a_table_of_processes
def test_the_system_knows_who_works():
    """A tenth of a second of our own work, and as much of a process that we have started, which has not ended."""
    before = processor_seconds(os.getpid())
    _work(0.1)
    after = processor_seconds(os.getpid())
    assert after - before >= 0.05
    code = "import time\nwhile time.process_time() < 0.2: pass\nprint('done', flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"done\n"
        assert child.pid in descendants(os.getpid())
        assert processor_seconds(child.pid) >= 0.1
        assert processor_seconds(os.getpid()) - after >= 0.1


def _work(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_where_the_system_tells_nothing_time_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(patience, "PROCESSES", tmp_path)
    assert processor_seconds(os.getpid()) == 0
