"""A test that hangs: nobody waits for it for ever, and it leaves nobody behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.patience import PROCESSES
from tests.guard import wait_until_ended

CONFTEST = """
from tests import guard
from tests.guard import pytest_runtest_protocol

guard.LONGEST = 0.5
"""

HANGS = """
import subprocess, threading

def test_before():
    pass

def test_that_waits_for_nobody():
    print(subprocess.Popen(["sleep", "1000"]).pid, file=open("pid", "w"), flush=True)
    threading.Event().wait()

def test_after():
    pass
"""


@pytest.mark.skipif(not PROCESSES.exists(), reason="this system does not tell who has started whom")
def test_it_is_named_and_ended_with_what_it_has_started(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_hangs.py").write_text(HANGS)
    here = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "test_hangs.py"]
    ended = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True)
    assert ended.returncode == 1
    assert re.search(r"^test_hangs.py::test_that_waits_for_nobody hangs: 0.5 seconds of work", ended.stderr, re.M)
    assert "in test_that_waits_for_nobody\n" in ended.stderr
    wait_until_ended(int((tmp_path / "pid").read_text()))
