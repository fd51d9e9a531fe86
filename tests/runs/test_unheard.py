"""Runs that nobody can see or hear end like any other."""

import os
import subprocess
import sys

import pytest

from coadapt.configs.data import plain
from coadapt.storage import runs
from tests.runs.processes import compiled_once
from tests.runs.toy import ToyConfig

pytestmark = pytest.mark.slow

RESUME = """
import signal
from coadapt.cli import main
from coadapt.experiments import registry
from tests.runs.toy import TOY

signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
registry.EXPERIMENTS[TOY.name] = TOY
main(["resume", "RUN"])
"""


@pytest.fixture
def folder(tmp_path):
    """Of a run of which nothing is done yet."""
    return runs.begin(tmp_path / "run", "toy", plain(ToyConfig())).folder


def command(folder):
    return [sys.executable, "-c", RESUME.replace("RUN", str(folder))]


def test_with_everything_closed(folder, cache):
    """The first files to be opened would be taken for what people see, and what people see be written into them."""
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command(folder)]
    assert subprocess.run(closed, env=compiled_once(cache)).returncode == 0
    assert runs.glance(folder).state == "finished"
    for file in (folder / "times.jsonl", *(folder / "metrics").iterdir()):
        assert all(line.startswith(b"{") for line in file.read_bytes().splitlines())


def test_with_a_terminal_whose_window_is_closed(folder, cache):
    window, terminal = os.openpty()
    process = subprocess.Popen(
        command(folder),
        env=compiled_once(cache),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    assert os.read(window, 1000)  # it has said something
    os.close(window)
    process.wait()
    assert runs.glance(folder).state == "finished"
