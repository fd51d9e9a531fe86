"""Asked twice to stop, a process leaves at once, whoever listens to what it says."""

import signal
import subprocess
import sys

import pytest

LISTEN = """
import os, sys, time
from coadapt.interruption import listening
from coadapt.progress import to_stderr

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
