"""Killed at random moments, and at the worst ones, a run of the real stages ends with the same bits."""

import json
import random
import signal
import time

import pytest

from tests.runs.processes import CHUNKS, COMMAND, STAGES, begin, prepare, run
from tests.runs.toy import bits

pytestmark = pytest.mark.slow

KILLS = 24


@pytest.fixture(scope="module")
def whole(tmp_path_factory, cache):
    """A run of the real experiment that nothing happened to."""
    folder = prepare(tmp_path_factory.mktemp("whole"))
    done = run(*COMMAND, folder=folder, cache=cache)
    assert done.returncode == 0, done.stderr
    assert lines(folder) == CHUNKS
    return folder / "runs/matrix_game"


def lines(folder):
    """How many chunks have got as far as the metrics."""
    return sum(file.read_bytes().count(b"\n") for file in folder.glob("runs/matrix_game/metrics/*.jsonl"))


def stage_of(folder):
    return json.loads((folder / "runs/matrix_game/state.json").read_text())["stage"]


def test_killed_at_random_moments_of_every_stage(whole, cache, tmp_path):
    """Every kill waits for some chunks and then a random while, so all stages are hit, in the middle of anything."""
    folder, chance = prepare(tmp_path / "work"), random.Random(2021)
    killed_in = []
    for kill in range(KILLS):
        process = begin(*COMMAND, folder=folder, cache=cache)
        target = 1 + kill * (CHUNKS - 2) // (KILLS - 1)
        while lines(folder) < target and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.05))
        if process.poll() is None:
            killed_in.append(stage_of(folder))
        process.kill()
        process.communicate()
    assert len(killed_in) >= 20
    assert set(killed_in) == set(STAGES)
    last = run(*COMMAND, folder=folder, cache=cache)
    assert last.returncode == 0, last.stderr
    assert bits(folder / "runs/matrix_game") == bits(whole)
    assert "Traceback" not in last.stderr


ACCIDENT = """
import os, signal
from pathlib import Path
count = 0

def watched(name, file_of):
    really = getattr(os, name)
    def instead(*arguments):
        global count
        concerned = {where!r} in file_of(*arguments)
        if concerned:
            count += 1
        if concerned and count == {number} and {when!r} == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if concerned and count == {number} and {when!r} == "half":
            really(arguments[0], arguments[1][: len(arguments[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return really(*arguments)
    setattr(os, name, instead)

def file_of(first, *_):
    return str(Path("/proc/self/fd", str(first)).readlink() if isinstance(first, int) else first)

watched({call!r}, file_of)
"""

# Where it is killed: before the call of this name that concerns such a file, or when half of it is written.
WORST_MOMENTS = {
    "before the first checkpoint": ("write", "checkpoints", 1, "before"),
    "in the middle of writing the arrays": ("write", "-000002.safetensors", 1, "half"),
    "between writing and syncing the arrays": ("fsync", "-000003.safetensors", 1, "before"),
    "between syncing and renaming the arrays": ("replace", "-000004.safetensors", 1, "before"),
    "between the arrays and their manifest": ("write", "-000005.json", 1, "before"),
    "in the middle of writing the manifest": ("write", "-000006.json", 1, "half"),
    "between writing and syncing the manifest": ("fsync", "-000007.json", 1, "before"),
    "between syncing and renaming the manifest": ("replace", "-000008.json", 1, "before"),
    "in the middle of writing an artefact": ("write", "artefacts", 2, "half"),
    "before the manifest of an artefact is renamed": ("replace", "outcome.json", 1, "before"),
    "in the middle of a line of the metrics": ("write", "metrics/policy.jsonl", 2, "half"),
    "before the run itself is written down": ("replace", "run.json", 1, "before"),
}


def test_killed_at_the_worst_moments(whole, cache, tmp_path):
    """One kill between each pair of write, sync and rename, each in a process of its own, and each is gone on from."""
    folder = prepare(tmp_path / "work")
    order = sorted(WORST_MOMENTS.items(), key=lambda moment: "run itself" not in moment[0])
    for name, (call, where, number, when) in order:
        accident = ACCIDENT.format(call=call, where=where, number=number, when=when)
        killed = run(*COMMAND, folder=folder, cache=cache, before=accident)
        assert killed.returncode == -signal.SIGKILL, f"{name}: {killed.stderr}"
    last = run("resume", "matrix_game", "--checkpoint-every", "0", folder=folder, cache=cache)
    assert last.returncode == 0, last.stderr
    assert bits(folder / "runs/matrix_game") == bits(whole)
    assert not list(folder.rglob("runs/matrix_game/**/*.part"))


def test_killed_and_gone_on_with_checkpoints_as_rare_as_by_default(whole, cache, tmp_path):
    """Then a whole stage may be lost; it is made again, and the metrics have no gap and no line twice."""
    folder, rarely = prepare(tmp_path / "work"), COMMAND[:-2]
    process = begin(*rarely, folder=folder, cache=cache)
    while lines(folder) < 14 and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.communicate()
    last = run(*rarely, folder=folder, cache=cache)
    assert last.returncode == 0, last.stderr
    assert bits(folder / "runs/matrix_game") == bits(whole)
